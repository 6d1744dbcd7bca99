// Rows of inputs as signed bytes: [columns] codes, then for each run of 16 their scale, and the sum
// of what they stand for.
uvec4 q8_codes(uint64_t row, uint run) { return WordQuads(row).v[run]; }

vec2 q8_scale_and_sum(uint64_t row, uint columns, uint run) { return FloatPairs(row + columns).v[run]; }
