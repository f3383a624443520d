// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gradway {

/// What each stage of a pipeline has, in the words of Megatron's `--pipeline-model-parallel-layout`.
struct StageLayout {
  std::vector<int> blocks{};  ///< by stage
  std::string problem{};      ///< why the text is no layout; empty: it is one
};

/// Reads "Et*3|(tt|)*29|L": E is the embedding, t a block, L the output layer with the loss, | the end of a
/// stage; x*3 and (xy)*3 repeat, commas mean nothing. An empty text has no stages.
/// @source megatron/core/transformer/pipeline_parallel_layer_layout.py, parse_str_to_list, at 00caa53a
StageLayout read_stage_layout(std::string_view text);

/// The text for stages of these blocks. @pre at least two stages
std::string stage_layout_of(const std::vector<int>& blocks);

/// Stages of the same number of blocks but for the first and the last, which may have up to three fewer in
/// all, as in DeepSeek V3 (3, 14 times 4, 2); empty if no such stages hold the blocks.
std::vector<int> nearly_even_stages(int blocks, int stages);

}  // namespace gradway
