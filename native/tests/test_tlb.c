/* SPDX-License-Identifier: Apache-2.0 */
/* CPUID reports the second-level TLB in two formats; without either it is unknown. */
#include <sizeup/tlb.h>

#include "check.h"

#define K4 (UINT64_C(1) << 12)
#define M2 (UINT64_C(1) << 21)
#define G1 (UINT64_C(1) << 30)

int main(void)
{
	/* 8 ways of 256 sets, 4K and 2M pages, level 2, unified */
	const struct sizeup_cpuid shared = { 0, 8u << 16 | 0x3, 256, 2u << 5 | 3 };
	const struct sizeup_cpuid first_level = { 0, 4u << 16 | 0x1, 16, 1u << 5 | 1 };
	const struct sizeup_cpuid instructions = { 0, 8u << 16 | 0x1, 16, 2u << 5 | 2 };
	const struct sizeup_cpuid nothing = { 0, 0, 0, 0 };
	/* 80000006H of a Zen 2: 4-way 2048 data and 6-way 1024 instruction entries for 4K; the same for 2M */
	const struct sizeup_cpuid zen = { 0x48006400, 0x68006400, 0, 0 };
	const struct sizeup_cpuid zen_huge = { 0, 0x60400000, 0, 0 };

	check(sizeup_tlb_structured(&shared, K4) == 2048, "ways times sets");
	check(sizeup_tlb_structured(&shared, M2) == 2048, "the same entries hold 2M pages");
	check(sizeup_tlb_structured(&shared, G1) == 0, "but none of 1G");
	check(sizeup_tlb_structured(&shared, 65536) == 0, "a size that x86 does not have");
	check(sizeup_tlb_structured(&first_level, K4) == 0, "the first level does not count");
	check(sizeup_tlb_structured(&instructions, K4) == 0, "loads do not use an instruction TLB");
	check(sizeup_tlb_structured(&nothing, K4) == 0, "a null subleaf");

	check(sizeup_tlb_extended(&zen, &zen_huge, K4) == 2048, "entries for data alone");
	check(sizeup_tlb_extended(&zen, &zen_huge, M2) == 2048, "2M in EAX");
	check(sizeup_tlb_extended(&zen, &zen_huge, G1) == 64, "1G in a leaf of its own");
	check(sizeup_tlb_extended(&nothing, &nothing, K4) == 0, "leaves that report nothing");

	const int32_t here = sizeup_tlb_entries(K4);

	check(here == 0 || (here >= 32 && here <= 65536), "this CPU reports none, or a plausible number");
	return 0;
}
