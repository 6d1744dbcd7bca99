// A conversation on its way from a request to the model's prompt.
#pragma once

#include <string>
#include <vector>

#include "core/api/fields.h"
#include "core/api/model_access.h"

namespace halogen::api {

// Checks `messages` and brings them into the form that templates are written for: the content a
// string, the arguments of earlier tool calls objects. What is wrong is remembered by `fields`.
Json read_messages(Fields& fields, const ModelAccess& model);

// False, with the refusal remembered, for a text so long that its tokens could not fit the context
// however long they were: it is not worth reading.
bool fits_context(Fields& fields, const char* param, size_t bytes, const ModelAccess& model);

// Renders the request's conversation with the model's template and reads it as tokens. What is
// wrong is remembered by `fields`.
std::vector<int32_t> chat_prompt(Fields& fields, const ModelAccess& model);

}  // namespace halogen::api
