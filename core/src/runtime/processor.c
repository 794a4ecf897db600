/* What the processor can do. */

#include "../kernels.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <cpuid.h>

#define PROCESSOR_SAVES_AVX (3u << 27) /* the system saves registers, and there is AVX */
#define PROCESSOR_AVX2 (1u << 5)
#define PROCESSOR_WIDE_REGISTERS 6u

int32_t ml_processor_has_avx2(void) {
    unsigned a, b, c, d, saved;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    if ((c & PROCESSOR_SAVES_AVX) != PROCESSOR_SAVES_AVX) return 0;
    __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
    if ((saved & PROCESSOR_WIDE_REGISTERS) != PROCESSOR_WIDE_REGISTERS) return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & PROCESSOR_AVX2);
}
#else
int32_t ml_processor_has_avx2(void) { return 0; }
#endif
