#include "plugins/gguf/tensor_names.h"

#include <gtest/gtest.h>

namespace halogen::gguf {
namespace {

TEST(GgufTensorNames, TranslatesModelAndLayerTensors) {
  EXPECT_EQ(normalised_tensor_name("token_embd.weight"), "token_embedding.weight");
  EXPECT_EQ(normalised_tensor_name("output.weight"), "output.weight");
  EXPECT_EQ(normalised_tensor_name("output_norm.weight"), "output_norm.weight");
  EXPECT_EQ(normalised_tensor_name("rope_freqs.weight"), "rope.frequency_factors.weight");
  EXPECT_EQ(normalised_tensor_name("cls.output.bias"), "classifier.output.bias");
  EXPECT_EQ(normalised_tensor_name("blk.3.attn_q.weight"), "layers.3.attention.q.weight");
  EXPECT_EQ(normalised_tensor_name("blk.31.attn_output.bias"), "layers.31.attention.output.bias");
  EXPECT_EQ(normalised_tensor_name("blk.0.ffn_down_exps.weight"),
            "layers.0.feed_forward.experts.down.weight");
  EXPECT_EQ(normalised_tensor_name("blk.2.ssm_a"), "layers.2.state.a");
  EXPECT_EQ(normalised_tensor_name("blk.9.nextn.eh_proj.weight"),
            "layers.9.next_token.projection.weight");
}

TEST(GgufTensorNames, LeavesUnknownNamesAlone) {
  for (const char* name : {"", "blk", "blk.", "blk.0", "blk.0.", "blk..attn_q.weight",
                           "blk.x.attn_q.weight", "blk.0.attn_nrom.weight", "attn_q.weight",
                           "blk.0.token_embd.weight", ".weight", "layers.0.attention.q.weight"}) {
    EXPECT_EQ(normalised_tensor_name(name), "") << name;
  }
}

}  // namespace
}  // namespace halogen::gguf
