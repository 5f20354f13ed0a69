/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIZEUP_TLB_H
#define SIZEUP_TLB_H

#include <stdint.h>

/** struct sizeup_cpuid - The four result registers of one CPUID leaf. */
struct sizeup_cpuid {
	uint32_t eax;
	uint32_t ebx;
	uint32_t ecx;
	uint32_t edx;
};

/**
 * sizeup_tlb_structured() - Second-level TLB entries for data on pages of @page_bytes, by one subleaf of leaf 18H.
 *
 * Intel SDM, volume 2A, CPUID, "Deterministic Address Translation Parameters".
 * Return: ways times sets, or 0 if the subleaf describes another TLB.
 */
int32_t sizeup_tlb_structured(const struct sizeup_cpuid *subleaf, uint64_t page_bytes);

/**
 * sizeup_tlb_extended() - Entries of the second-level data TLB for @page_bytes, by leaves 80000006H and 80000019H.
 *
 * AMD APM, volume 3, appendix E: bits 27:16 count entries for data.
 * Return: entries, or 0 if the leaves report none.
 */
int32_t sizeup_tlb_extended(const struct sizeup_cpuid *leaf_6, const struct sizeup_cpuid *leaf_19, uint64_t page_bytes);

/**
 * sizeup_tlb_entries() - Entries of this CPU's second-level TLB for data on pages of @page_bytes.
 * Return: entries, or 0 if the CPU does not report them: not an x86, an old one, or hidden by a hypervisor.
 */
int32_t sizeup_tlb_entries(uint64_t page_bytes);

#endif
