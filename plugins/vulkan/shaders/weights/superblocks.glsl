// Superblocks of 256 elements: 32 pieces each.
const uint kSuperblockPieces = 32u;
