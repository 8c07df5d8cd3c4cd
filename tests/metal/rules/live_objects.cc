#include "tests/metal/rules/live_objects.h"

namespace mpsd::standin {

LiveObjects& LiveObjects::All() {
  static auto* const all = new LiveObjects;  // threads of the gpu may outlive static objects
  return *all;
}

}  // namespace mpsd::standin
