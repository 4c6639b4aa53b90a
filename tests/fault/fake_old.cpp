// A driver library of any kind from so long ago that it has none of the functions.
#include "fault/fake_script.h"

FAKE_EXPORT int fake_old_driver() {
  return 0;
}
