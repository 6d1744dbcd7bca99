// Superblocks of 256 elements.
const uint kSuperblockPieces = 32u;
const uint kSuperblockSpans = 8u;
