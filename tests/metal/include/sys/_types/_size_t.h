// Apple's header of one type.
#pragma once

#include <cstddef>
