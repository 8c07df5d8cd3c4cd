// The size of a Mac's pages.
#pragma once

#include <cstddef>

static const size_t vm_page_size = 16384;
