/* The version, and statuses in words. */

#include "../kernels.h"

const char *ml_version(void) { return ML_VERSION; }
int32_t ml_version_number(void) { return ML_VERSION_NUMBER; }

const char *ml_status_text(int32_t status) {
    switch (status) {
    case ML_OK:
        return "all is well";
    case ML_BAD_SIZE:
        return "a size is negative, or sizes do not fit together";
    case ML_MISSING:
        return "limits of a clip are not measured yet";
    case ML_DAMAGED:
        return "a file is not what it should be";
    case ML_NOWHERE:
        return "there is no such place, or its clip is too short for a transition";
    case ML_OTHER_VERSION:
        return "a file of another version: export it again";
    case ML_NOT_FINITE:
        return "numbers are nan, infinite or far too large";
    case ML_TOO_SHORT:
        return "no piece of the label is long enough to be held: act it, or go there";
    case ML_UNALIGNED:
        return "a file or memory does not begin at the multiple of bytes that it must";
    default:
        return "no status of this library";
    }
}
