/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_TLB_H
#define SIZEUP_TLB_H

#include <stdint.h>

/** struct sizeup_cpuid - The four registers that one CPUID leaf answers with. */
struct sizeup_cpuid {
	uint32_t eax;
	uint32_t ebx;
	uint32_t ecx;
	uint32_t edx;
};

/**
 * sizeup_tlb_structured() - Entries that one subleaf of leaf 18H gives data of @page_bytes at the second level.
 *
 * Intel SDM, volume 2A, CPUID, "Deterministic Address Translation Parameters".
 * Return: ways times sets, or 0 where the subleaf describes another TLB.
 */
int32_t sizeup_tlb_structured(const struct sizeup_cpuid *subleaf, uint64_t page_bytes);

/**
 * sizeup_tlb_extended() - Entries of the second-level data TLB for @page_bytes, by leaves 80000006H and 80000019H.
 *
 * AMD APM, volume 3, appendix E: bits 27:16 count entries for data.
 * Return: entries, or 0 where the leaves tell none.
 */
int32_t sizeup_tlb_extended(const struct sizeup_cpuid *leaf_6, const struct sizeup_cpuid *leaf_19, uint64_t page_bytes);

/**
 * sizeup_tlb_entries() - Entries of this CPU's second-level TLB for data on pages of @page_bytes.
 * Return: entries, or 0 where the CPU does not say: no x86, an old one, or a hypervisor that hides it.
 */
int32_t sizeup_tlb_entries(uint64_t page_bytes);

#endif
