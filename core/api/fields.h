// Reading a request's fields: typed, bounded, and with errors that name the parameter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/api/api_error.h"
#include "core/config/sampling_limits.h"

namespace halogen::api {

// Remembers the first error, so that a request reads as a list of its fields. A field that is
// absent or null leaves the target as it is.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  void boolean(const char* name, bool& target);
  void integer(const char* name, int64_t minimum, int64_t maximum, int64_t& target);
  void number(const char* name, const NumberRange& range, double& target);
  void text(const char* name, std::string& target);

  // Appends the ids of `list`, which must be below `vocabulary_size`; `param` is what errors call
  // it.
  void token_ids(const std::string& param, const Json& list, uint32_t vocabulary_size,
                 std::vector<int32_t>& target);

  // The field, or null where it is absent or null itself.
  const Json* find(const char* name) const;

  // A field that this version does not do: absent, null and `harmless` are fine, anything else is
  // refused.
  void unsupported(const char* name, const Json& harmless, const char* why);

  void refuse(const std::string& param, const std::string& message,
              const char* code = "invalid_value");
  const std::optional<ApiError>& error() const { return error_; }

 private:
  void wrong_type(const char* name, const char* wanted);

  const Json& object_;
  std::optional<ApiError> error_;
};

// "a string", "an array": for messages.
std::string type_of(const Json& json);

}  // namespace halogen::api
