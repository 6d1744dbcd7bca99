// What the engine needs of the text side: tokens go in, complete characters come out, and a stop
// string is noticed. The engine knows no tokenizer beyond this.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/engine/request.h"

namespace halogen {

// The text of one sequence. The engine thread alone uses it; neither call allocates once the
// strings involved have grown.
class TextSink {
 public:
  virtual ~TextSink() = default;

  // Appends to `text` what has become certain with `token`: complete UTF-8 characters that cannot
  // be the beginning of a stop string. Returns true when a stop string is complete; then `text`
  // ends just before it and the sink is not used again.
  virtual bool push(int32_t token, std::string& text) = 0;

  // Appends what was held back; the sequence has ended for another reason.
  virtual void finish(std::string& text) = 0;
};

class TextSource {
 public:
  virtual ~TextSource() = default;

  // [loop] Reads the request's stop strings and skip_special.
  virtual Result<std::unique_ptr<TextSink>> open(const GenerationRequest& request) const = 0;

  // [any]
  virtual bool ends_generation(int32_t token) const = 0;
  // [any] All for which that is true.
  virtual std::span<const int32_t> end_tokens() const = 0;
};

}  // namespace halogen
