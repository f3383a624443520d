// SPDX-License-Identifier: Apache-2.0
// Facts of a kernel alone: its class, its name, the number of its blocks that fit.
#include <catch2/catch.hpp>

#include "readers/kineto/work/launch_work.hpp"
#include "readers/kineto/work/operation_work.hpp"

using namespace gradway;

TEST_CASE("kernels are classified by their names", "[import][work]") {
  using enum KernelClass;
  using Row = std::pair<const char*, KernelClass>;
  const auto [name, kind] = GENERATE(values<Row>({
      {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_execute_kernel__5x_cublas", matrix},
      {"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x256_8x4_nt_align1>(Params)", matrix},
      {"nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT", matrix},
      {"sm90_xmma_wgrad_indexed_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc", matrix},
      {"void implicit_convolve_sgemm<float, 1024, 5>(int)", matrix},
      {"void cudnn::cnn::conv2d_grouped_direct_kernel<false>(int)", matrix},
      {"ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", matrix},
      {"fmha_cutlassB_f32_aligned_64x64_k64_sm80(AttentionBackwardKernel::Params)", attention},
      {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(Params)", attention},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26", attention},
      {"void cudnn::fusion::compute_dot_do_o_specialized<true, 64>(void const*)", memory},
      {"void cudnn::fusion::convert_dq_to_16bits<true>(void const*)", memory},
      {"void cudnn::engines_precompiled::nchwToNhwcKernel<float>(int)", memory},
      {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_execute_split_k_kernel__5x_cublas", memory},
      {"void cublasLt::splitKreduce_kernel<32, 16>(int)", memory},
      {"void cudnn::cnn::reduce_wgrad_nchw_helper<float>(int)", memory},
      {"void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel<3>(int)", memory},
      {"void at::native::reduce_kernel<128, 4>(int)", memory},
      {"triton_poi_fused_add_0", memory},
  }));
  CAPTURE(name);

  CHECK(class_of(TracedActivity::Kind::kernel, name) == kind);
}

TEST_CASE("copies are classified by their direction", "[import][work]") {
  using enum TracedActivity::Kind;
  CHECK(class_of(copy, "Memcpy HtoD (Pinned -> Device)") == KernelClass::copy_in);
  CHECK(class_of(copy, "Memcpy DtoH (Device -> Pageable)") == KernelClass::copy_out);
  CHECK(class_of(copy, "Memcpy DtoD (Device -> Device)") == KernelClass::memory);
  CHECK(class_of(memset, "Memset (Device)") == KernelClass::memory);
}

TEST_CASE("TF32 shows in the names of kernels", "[import][work]") {
  CHECK(uses_tf32("sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128"));
  CHECK(uses_tf32("cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4"));
  CHECK_FALSE(uses_tf32("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n"));
  CHECK_FALSE(uses_tf32("cutlass_80_simt_sgemm_256x128_8x4_nt_align1"));
}

TEST_CASE("names of kernels say the precision of their operands", "[import][work]") {
  CHECK(precision_by_name("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n") == Precision::bf16);
  CHECK(precision_by_name("void gemvNSP_kernel<__nv_bfloat16, __nv_bfloat16, float>()") == Precision::bf16);
  CHECK(precision_by_name("turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn") == Precision::fp16);
  CHECK(precision_by_name("sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n") == Precision::tf32);
  CHECK(precision_by_name("ampere_sgemm_128x64_tn") == Precision::fp32);
  CHECK(precision_by_name("void at::native::elementwise_kernel<float>()") == Precision::fp32);
  CHECK_FALSE(precision_by_name("nvjet_tst_128x256_64x4_1x2_h_bz_coopB_TNT"));
}

TEST_CASE("names of NCCL's kernels say the collective and the type of its elements", "[import][work]") {
  CHECK(is_collective("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"));
  CHECK_FALSE(is_collective("ampere_sgemm_128x64_tn"));
  CHECK(collective_kind("ncclDevKernel_AllGather_RING_LL") == CollectiveKind::all_gather);
  CHECK(collective_kind("_reduce_scatter_base") == CollectiveKind::reduce_scatter);
  CHECK(collective_kind("ncclDevKernel_AllReduce_Sum_bf16_RING_LL") == CollectiveKind::all_reduce);
  for (const auto& [kernel, bytes] :
       {std::pair{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 2},
        std::pair{"ncclDevKernel_AllReduce_Sum_f32_TREE_LL", 4},
        std::pair{"ncclDevKernel_AllReduce_Sum_f8e4m3_RING_LL", 1}, std::pair{"ncclDevKernel_SendRecv", 0}})
    CHECK(element_bytes(element_type_of(kernel)) == bytes);
}

TEST_CASE("a kernel has a short name for people", "[import][work]") {
  CHECK(short_name("void cudnn::engines_precompiled::nchwToNhwcKernel<float, float>(int)") ==
        "nchwToNhwcKernel");
  CHECK(short_name("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<int>(x)") ==
        "multi_tensor_apply_kernel");
  CHECK(short_name("nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_bias_TNT") ==
        "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coo");
}

TEST_CASE("threads, registers and shared memory limit the number of blocks", "[import][work]") {
  DeviceLimits h200{
      .id = 0, .name = "", .capability = 90, .threads = 2048, .registers = 65536, .shared = 233472};
  DeviceLimits l40s{
      .id = 0, .name = "", .capability = 89, .threads = 1536, .registers = 65536, .shared = 102400};
  const auto fit = [](const DeviceLimits& limits, int threads, int registers, int shared) {
    TracedActivity kernel;
    kernel.threads = threads;
    kernel.registers = registers;
    kernel.shared = shared;
    return blocks_per_multiprocessor(kernel, limits);
  };

  CHECK(fit(h200, 256, 32, 0) == 8);        // 2048 / 256 threads
  CHECK(fit(h200, 32, 16, 0) == 32);        // at most 32 blocks
  CHECK(fit(l40s, 32, 16, 0) == 24);        // at most 24
  CHECK(fit(l40s, 1024, 32, 0) == 1);       // 1536 / 1024
  CHECK(fit(h200, 128, 128, 0) == 4);       // 4 parts of 16384 / (128 x 32) = 4 warps each, 4 warps a block
  CHECK(fit(h200, 256, 40, 0) == 6);        // 40 x 32 = 1280: 12 warps a part, 48 in all, 8 a block
  CHECK(fit(h200, 256, 33, 0) == 6);        // rounded up to 40
  CHECK(fit(h200, 384, 168, 200000) == 1);  // 12 warps: 3 a part; (200000 + 1024) once into 233472
  CHECK(fit(h200, 128, 32, 58000) == 3);    // 58000 would fit 4 times, with the 1024 only 3 times
  CHECK(fit(h200, 32, 88, 0) == 20);  // 88 x 32 = 2816: 5 warps a part, though 23 fit into all registers
  CHECK(fit(h200, 128, 32, 48 * 1024) == 4);  // 233472 / (49152 + 1024)
  CHECK(fit(h200, 1024, 255, 0) == 1);        // it ran, so one fits
  CHECK(fit(DeviceLimits{}, 256, 32, 0) == 0);
}
