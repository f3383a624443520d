// SPDX-License-Identifier: Apache-2.0
// Shipped models have the parameters that their shapes are known for.
#include <cstdint>
#include <utility>

#include <catch2/catch.hpp>

#include "sim/config/config.hpp"

using namespace gradway;

TEST_CASE("shipped models have exactly the published number of parameters", "[config][models]") {
  using Row = std::pair<const char*, std::int64_t>;
  const auto [name, parameters] = GENERATE(values<Row>({{"llama2_13b", 13'015'864'320},
                                                        {"llama3_70b", 70'553'706'496},
                                                        {"llama3_405b", 405'853'388'800},
                                                        {"internlm_7b", 7'321'423'872},
                                                        {"mixtral_8x7b", 46'702'792'704},
                                                        {"mixtral_8x22b", 140'620'634'112},
                                                        {"qwen2_5_0b5", 494'032'768},
                                                        {"qwen2_5_1b5", 1'543'714'304},
                                                        {"qwen2_5_3b", 3'085'938'688},
                                                        {"qwen2_5_7b", 7'615'616'512},
                                                        {"qwen2_5_14b", 14'770'033'664},
                                                        {"qwen2_5_32b", 32'763'876'352},
                                                        {"qwen2_5_72b", 72'706'203'648},
                                                        {"qwen3_0b6", 596'049'920},
                                                        {"qwen3_1b7", 1'720'574'976},
                                                        {"qwen3_4b", 4'022'468'096},
                                                        {"qwen3_8b", 8'190'735'360},
                                                        {"qwen3_14b", 14'768'307'200},
                                                        {"qwen3_32b", 32'762'123'264},
                                                        {"qwen3_30b_a3b", 30'532'122'624},
                                                        {"qwen3_235b_a22b", 235'093'634'560},
                                                        {"deepseek_v2", 235'741'434'880},
                                                        {"deepseek_v2_lite", 15'706'484'224},
                                                        {"deepseek_v3", 671'026'419'200},
                                                        {"megatron_1b7", 1'652'230'656},
                                                        {"megatron_22b", 22'074'273'792},
                                                        {"gpt3_175b", 174'604'259'328},
                                                        {"bloom_176b", 176'247'271'424},
                                                        {"gpt_neox_20b", 20'554'567'680},
                                                        {"opt_125m", 125'239'296},
                                                        {"opt_1b3", 1'315'758'080},
                                                        {"opt_2b7", 2'651'596'800},
                                                        {"opt_6b7", 6'658'473'984},
                                                        {"opt_13b", 12'853'473'280},
                                                        {"opt_30b", 29'974'540'288},
                                                        {"opt_66b", 65'719'701'504},
                                                        {"opt_175b", 174'604'468'224},
                                                        {"t5_base", 222'903'552},
                                                        {"t5_large", 737'668'096},
                                                        {"t5_3b", 2'851'598'336},
                                                        {"t5_11b", 11'307'321'344},
                                                        {"llama2_7b", 6'738'415'616},
                                                        {"llama2_70b", 68'976'648'192},
                                                        {"llama3_8b", 8'030'261'248},
                                                        // less the positions that benchmarks learned
                                                        {"mpt_1b", 1'315'950'592 - 2048 * 2048},
                                                        {"mpt_7b", 6'658'859'008 - 2048 * 4096},
                                                        {"mpt_30b", 29'975'214'080 - 2048 * 7168},
                                                        {"mpt_70b", 64'862'437'376 - 2048 * 8192},
                                                        {"vit_l_32", 306'535'400}}));
  CAPTURE(name);
  CHECK(load_model(name, DataPath{{GRADWAY_SOURCE_DIR}}).parameter_count() == parameters);
}
