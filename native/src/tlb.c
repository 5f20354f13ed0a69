/* SPDX-License-Identifier: Apache-2.0 */
#include <sizeup/tlb.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define SIZE_4K (UINT64_C(1) << 12)
#define SIZE_2M (UINT64_C(1) << 21)
#define SIZE_1G (UINT64_C(1) << 30)

int32_t sizeup_tlb_structured(const struct sizeup_cpuid *subleaf, uint64_t page_bytes)
{
	const uint32_t type = subleaf->edx & 0x1f, level = subleaf->edx >> 5 & 0x7;
	const uint32_t ways = subleaf->ebx >> 16, sets = subleaf->ecx;
	const uint32_t page = (page_bytes == SIZE_4K) | (page_bytes == SIZE_2M) << 1 | (page_bytes == SIZE_1G) << 3;

	/* data, unified, load-only: the kinds that serve loads */
	if (level != 2 || (type != 1 && type != 3 && type != 4) || !(subleaf->ebx & page))
		return 0;
	return ways < 1u << 12 && sets < 1u << 16 ? (int32_t)(ways * sets) : 0;
}

int32_t sizeup_tlb_extended(const struct sizeup_cpuid *leaf_6, const struct sizeup_cpuid *leaf_19, uint64_t page_bytes)
{
	uint32_t registers = 0;

	if (page_bytes == SIZE_4K)
		registers = leaf_6->ebx;
	else if (page_bytes == SIZE_2M)
		registers = leaf_6->eax;
	else if (page_bytes == SIZE_1G)
		registers = leaf_19->ebx;
	return (int32_t)(registers >> 16 & 0xfff);
}

#if defined(__x86_64__)
static struct sizeup_cpuid read_cpuid(uint32_t leaf, uint32_t subleaf)
{
	struct sizeup_cpuid registers = { 0, 0, 0, 0 };

	/* Beyond its highest leaf a CPU returns another leaf; __get_cpuid_count checks for that. */
	if (!__get_cpuid_count(leaf, subleaf, &registers.eax, &registers.ebx, &registers.ecx, &registers.edx))
		return (struct sizeup_cpuid){ 0, 0, 0, 0 };
	return registers;
}

int32_t sizeup_tlb_entries(uint64_t page_bytes)
{
	struct sizeup_cpuid subleaf = read_cpuid(0x18, 0);
	const uint32_t last = subleaf.eax < 32 ? subleaf.eax : 0;
	int32_t most = 0;

	for (uint32_t number = 0; number <= last; number++) {
		subleaf = read_cpuid(0x18, number);
		const int32_t entries = sizeup_tlb_structured(&subleaf, page_bytes);

		most = entries > most ? entries : most;
	}
	if (!most) {
		const struct sizeup_cpuid leaf_6 = read_cpuid(0x80000006, 0), leaf_19 = read_cpuid(0x80000019, 0);

		most = sizeup_tlb_extended(&leaf_6, &leaf_19, page_bytes);
	}
	return most;
}
#else
int32_t sizeup_tlb_entries(uint64_t page_bytes)
{
	(void)page_bytes;
	return 0;
}
#endif
