#include "server/build_info.h"

#include "server/build_stamp.h"

namespace mpsd {

std::string BuildInfo() {
  return "mpsd " MPSD_BUILD_VERSION "\ncommit " MPSD_BUILD_COMMIT "\nlibtorch " MPSD_BUILD_LIBTORCH
         "\nbuild " MPSD_BUILD_KIND;
}

}  // namespace mpsd
