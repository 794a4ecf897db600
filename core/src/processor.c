/* What the processor can do. */

#include "../motionloom.h"

int32_t ml_processor_has_avx2(void) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    return __builtin_cpu_supports("avx2") != 0;
#else
    return 0;
#endif
}
