// What a plan says, for people and for programs.
#include <nlohmann/json.hpp>

#include "core/bench/model_plan.h"
#include "core/bench/table.h"

namespace halogen::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes(uint64_t count) {
  return decimal_bytes(static_cast<double>(count));
}

// The left edge of a line, before what it says.
std::string line(std::string label) {
  label.resize(16, ' ');
  return label;
}

std::string bandwidth(const ModelPlan& plan) {
  return fixed(plan.machine.read_bandwidth / 1e9, 1) + " GB/s";
}

std::string weights(const ModelPlan& plan) {
  std::string text = line("weights") + bytes(plan.weight_bytes) + ":";
  for (const ModelPlan::Weights& part : plan.weights)
    text += " " + part.type + " " + bytes(part.bytes) + (&part == &plan.weights.back() ? "" : ",");
  text += "\n";
  if (plan.machine.read_bandwidth > 0) {
    text += line("") + "all of them can be read " +
            fixed(plan.machine.read_bandwidth / static_cast<double>(plan.weight_bytes), 1) +
            " times a second at " + bandwidth(plan) + "\n";
  }
  return text;
}

std::string caches(const ModelPlan& plan) {
  Table table({"KV cache", "of a token", "pool", "tokens in it"});
  for (const ModelPlan::Cache& cache : plan.caches) {
    table.add({cache.type + (cache.type == plan.cache_type ? " *" : ""),
               std::to_string(cache.token_bytes) + " B", bytes(cache.pool_bytes),
               std::to_string(cache.pool_tokens)});
  }
  std::string text = table.text() + "* as the profile has it";
  if (plan.windowed_layers > 0) {
    text += "; " + std::to_string(plan.windowed_layers) + " of " + std::to_string(plan.layers) +
            " layers read no more than the last " + std::to_string(plan.window) + " tokens";
  }
  return text + "\n";
}

// A table of lengths for the cache that the profile asks for.
std::string lengths(const ModelPlan& plan) {
  const bool speed = plan.machine.read_bandwidth > 0;
  std::vector<std::string> heads{"context", "streams that fit"};
  if (speed) {
    heads.insert(heads.end(), {"one stream, tok/s", "together", "all together, tok/s"});
  }
  Table table(heads);
  for (const ModelPlan::Cache& cache : plan.caches) {
    if (cache.type != plan.cache_type) continue;
    for (const ModelPlan::Length& length : cache.lengths) {
      std::vector<std::string> row{std::to_string(length.context), std::to_string(length.streams)};
      if (speed) {
        const bool any = length.streams > 0;
        row.insert(row.end(),
                   {any ? fixed(length.one_stream, 1) : "-", std::to_string(length.together),
                    any ? fixed(length.all_streams, 1) : "-"});
      }
      table.add(row);
    }
  }
  return table.text();
}

}  // namespace

std::string plan_text(const ModelPlan& plan) {
  std::string text = line("model") + plan.architecture + ", " + std::to_string(plan.layers) +
                     " layers, context " + std::to_string(plan.context) + "\n" + weights(plan);
  text += line("working memory") + bytes(plan.program_bytes) + " beside the weights\n";
  text += line("machine") + bytes(plan.machine.memory_bytes) + " of memory";
  if (plan.machine.read_bandwidth > 0) text += ", read at " + bandwidth(plan);
  text += "\n";
  text += plan.fits() ? line("fits") + "yes\n" : line("fits") + "no: " + plan.problem + "\n";
  if (plan.machine.read_bandwidth > 0) {
    text += line("one stream") + "at most " + fixed(plan.ceiling(), 1) +
            " tokens per second: " + bytes(plan.token_weight_bytes) +
            " are read for each token, and its context\n";
  }
  text += "\n" + caches(plan) + "\n" + lengths(plan);
  if (plan.machine.read_bandwidth > 0)
    text += "Speeds are what the memory allows with full contexts; no program can be faster.\n";
  return text;
}

std::string plan_json(const ModelPlan& plan) {
  Json root;
  root["architecture"] = plan.architecture;
  root["layers"] = plan.layers;
  root["context"] = plan.context;
  root["window"] = {{"layers", plan.windowed_layers}, {"tokens", plan.window}};
  root["memory_bytes"] = plan.machine.memory_bytes;
  root["read_bandwidth"] = plan.machine.read_bandwidth;
  root["weight_bytes"] = plan.weight_bytes;
  root["weight_bytes_per_token"] = plan.token_weight_bytes;
  root["program_bytes"] = plan.program_bytes;
  root["weights"] = Json::array();
  for (const ModelPlan::Weights& part : plan.weights) {
    root["weights"].push_back(
        {{"type", part.type}, {"tensors", part.tensors}, {"bytes", part.bytes}});
  }
  root["fits"] = plan.fits();
  if (!plan.fits()) root["problem"] = plan.problem;
  root["tokens_per_second"] = plan.ceiling();
  root["cache_type"] = plan.cache_type;
  root["caches"] = Json::array();
  for (const ModelPlan::Cache& cache : plan.caches) {
    Json one{{"type", cache.type},
             {"bytes_per_token", cache.token_bytes},
             {"pool_bytes", cache.pool_bytes},
             {"pool_tokens", cache.pool_tokens},
             {"lengths", Json::array()}};
    for (const ModelPlan::Length& length : cache.lengths) {
      one["lengths"].push_back({{"context", length.context},
                                {"streams", length.streams},
                                {"tokens_per_second", length.one_stream},
                                {"together", length.together},
                                {"tokens_per_second_together", length.all_streams}});
    }
    root["caches"].push_back(std::move(one));
  }
  return root.dump(2) + "\n";
}

}  // namespace halogen::bench
