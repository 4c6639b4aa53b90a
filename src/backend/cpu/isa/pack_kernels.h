// The functions of pack_kernels.cpp; matrix_kernels.h says what they do. Included like vec.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sotto::cpu::SOTTO_ISA {

void pack_tile(const float* x, size_t stride, size_t rows, size_t inputs, float* tile);
void quantise_tile(const float* x, size_t stride, size_t rows, size_t inputs, void* tile, float* row_scales);

void pack_panel_f32(const float* weights, size_t count, size_t inputs, void* panel, float* scales,
                    int32_t* sums);
void pack_panel_f16(const float* weights, size_t count, size_t inputs, void* panel, float* scales,
                    int32_t* sums);
void pack_panel_bf16(const float* weights, size_t count, size_t inputs, void* panel, float* scales,
                     int32_t* sums);
void pack_panel_i8(const float* weights, size_t count, size_t inputs, void* panel, float* scales,
                   int32_t* sums);

void read_output_f32(const void* panel, size_t output, size_t inputs, float scale, float* out);
void read_output_f16(const void* panel, size_t output, size_t inputs, float scale, float* out);
void read_output_bf16(const void* panel, size_t output, size_t inputs, float scale, float* out);
void read_output_i8(const void* panel, size_t output, size_t inputs, float scale, float* out);

}  // namespace sotto::cpu::SOTTO_ISA
