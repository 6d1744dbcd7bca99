// Which GGUF key becomes which normalised key, of what type and within what bounds. Tables only.
#pragma once

#include <limits>
#include <span>
#include <string_view>

namespace halogen::gguf {

// As bounds: none, and "more than 0".
inline constexpr double kUnbounded = std::numeric_limits<double>::max();
inline constexpr double kAboveZero = std::numeric_limits<double>::min();

enum class Kind {
  count,          // an integer -> u64
  layer_counts,   // an integer, or an array of one a layer -> u64, or u64[layers] where they differ
  layer_pattern,  // an integer, or an array of integers or bools, one a layer -> u64 or u64[layers]
  integer,        // an integer -> i64
  real,           // a finite number -> f64
  flag,           // bool
  text,           // UTF-8
  choice,         // an integer that is an index into `choices` -> string
  token_id,       // an integer -> u64; -1 of 32 bits means none and the key is left out
  texts,          // an array of strings, as it is
  reals,          // an array of f32 or f64, as it is
  integers,       // an array of integers, as it is
};

struct Rule {
  std::string_view from;  // GGUF key; of architecture_rules() without the architecture in front
  std::string_view to;    // normalised key
  Kind kind = Kind::count;
  // Bounds of counts, integers and reals, both included. The elements of arrays may also be 0, for
  // layers that lack the thing.
  double least = 0;
  double most = 0;
  std::span<const std::string_view> choices = {};
};

// Where two rules have one normalised key, the first that is in the file wins.
std::span<const Rule> general_rules();
std::span<const Rule> architecture_rules();
std::span<const Rule> tokenizer_rules();

// "adjacent" where an architecture's files have q and k ordered so that rotary embedding turns
// elements 2i and 2i + 1 together (for llama the converter permutes them so); "halves" where it
// turns i and i + dimensions / 2; empty for one that has no rotary embedding or is not known.
std::string_view rope_pairing(std::string_view architecture);

// For architectures with one position for each of several axes: how halogen.rope.sections are laid
// out over the frequencies, "blocks" or "interleaved". Empty for all others.
std::string_view rope_section_order(std::string_view architecture);

}  // namespace halogen::gguf
