/* halogen SDK: samplers, which choose the next token of every row of a step in one call.
 *
 * Randomness is a function of the seed and of how many tokens the sequence has drawn, never of the
 * batch: the same seed gives the same tokens whoever else is served.
 */
#ifndef HALOGEN_SAMPLER_H
#define HALOGEN_SAMPLER_H

#include "halogen/base.h"
#include "halogen/config.h"

HALOGEN_BEGIN

#define HALOGEN_SAMPLER_KIND "halogen.sampler/1"

typedef struct halogen_sampler halogen_sampler;
typedef struct halogen_sampling_state halogen_sampling_state;

typedef struct halogen_logit_bias {
  int32_t token;
  float bias; /* added to the logit; -100 and below bans the token */
} halogen_logit_bias;

/* The stages of sampling, in the order in which they run where a request gives none. */
typedef enum halogen_sampling_stage {
  HALOGEN_STAGE_PENALTIES = 1, /* repetition, presence, frequency */
  HALOGEN_STAGE_DRY = 2,
  HALOGEN_STAGE_TOP_N_SIGMA = 3,
  HALOGEN_STAGE_TOP_K = 4,
  HALOGEN_STAGE_TEMPERATURE = 5,
  HALOGEN_STAGE_TYPICAL_P = 6,
  HALOGEN_STAGE_TOP_P = 7,
  HALOGEN_STAGE_MIN_P = 8,
  HALOGEN_STAGE_XTC = 9
} halogen_sampling_stage;

/* How one sequence is sampled. A value that switches a stage off is given in brackets.
 * Probabilities are those among the tokens that the stages before have left, at the temperature
 * they have set. docs/sampling.md has the formulae. */
typedef struct halogen_sampling_parameters {
  uint32_t struct_size;
  uint64_t seed;
  float temperature;        /* 0: the largest logit, lowest id first on a tie */
  int32_t top_k;            /* keep the k largest [0] */
  float top_p;              /* keep the smallest set whose probability reaches p [1] */
  float min_p;              /* drop what is below min_p times the largest probability [0] */
  float repetition_penalty; /* divides positive, multiplies negative logits of seen tokens [1] */
  float presence_penalty;   /* subtracted once for a token that was generated [0] */
  float frequency_penalty;  /* subtracted for each time it was generated [0] */
  int32_t penalty_window;   /* how many of the last tokens count; -1 all */
  uint32_t n_biases;
  const halogen_logit_bias* biases; /* borrowed until state_create returns */

  /* Since ABI 1.1. Where the writer did not know a member, its stage is off. */
  float typical_p;       /* keep the tokens whose surprise is nearest to the expected one, until
                            their probability reaches p [1] */
  float top_n_sigma;     /* drop what is more than n standard deviations below the largest logit;
                            [0 and below] */
  float xtc_probability; /* how often the top choices are excluded [0] */
  float xtc_threshold;  /* of the tokens at least this probable, only the least stays [above 0.5] */
  float dynatemp_range; /* the temperature moves this far to both sides with the entropy [0] */
  float dynatemp_exponent; /* of the entropy's share of its maximum, before it moves it */
  uint32_t mirostat;       /* 2: version 2, in place of all stages that drop tokens [0] */
  float mirostat_tau;      /* the surprise that it aims at, in bits */
  float mirostat_eta;      /* how fast it corrects itself */
  float dry_multiplier;    /* times dry_base to the power of what a repetition exceeds
                              dry_allowed_length by: subtracted from the token that would go on with
                              it [0] */
  float dry_base;
  uint32_t dry_allowed_length;
  int32_t dry_penalty_last_n; /* how many of the last tokens are searched; -1 all [0] */
  /* Sequences that no repetition reaches across: token ids, each sequence followed by -1; n_ counts
   * all elements. Borrowed until state_create returns. */
  uint32_t n_dry_breakers;
  const int32_t* dry_breakers;
  /* The stages that run (halogen_sampling_stage), in this order, each at most once; null: all, in
   * the order of the enumeration. At a temperature of 0 only those that change logits count.
   * Borrowed until state_create returns. */
  const uint32_t* stages;
  uint32_t n_stages;
  uint32_t reserved; /* 0 */
} halogen_sampling_parameters;

/* Rows wanted and what comes out; n_rows of everything. */
typedef struct halogen_sample_batch {
  uint32_t struct_size;
  uint32_t n_rows;
  uint32_t vocabulary_size;
  size_t logits_stride;                  /* elements from row to row */
  float* logits;                         /* [n_rows, logits_stride]; overwritten by the call */
  halogen_sampling_state* const* states; /* [n_rows], all different */
  const uint32_t* const* masks; /* [n_rows] of bit sets over the vocabulary (bit 1: allowed), each
                                   may be null; or null altogether */
  const int32_t*
      n_top_logprobs; /* [n_rows]: -1 no logprobs, 0 the chosen token's, k also the k best */
  uint32_t top_logprobs_stride; /* at least the largest k */
  int32_t* tokens;     /* [n_rows] out; -1 where no token is possible: all banned, or no number */
  float* logprobs;     /* [n_rows] out: of the chosen token, from the unchanged logits */
  int32_t* top_tokens; /* [n_rows, top_logprobs_stride] out, best first */
  float* top_logprobs; /* [n_rows, top_logprobs_stride] out */
} halogen_sample_batch;

typedef struct halogen_sampler_factory {
  uint32_t struct_size;
  const char* name; /* what a profile calls it: "sampler" */
  uint32_t n_config_keys;
  const halogen_config_key* const* config_keys;

  /* [worker] `vocabulary_size` bounds token ids. */
  halogen_status (*create)(const halogen_config* config, uint32_t vocabulary_size,
                           halogen_sampler** sampler, halogen_error* error);
  /* [worker] All states are already destroyed. */
  void (*destroy)(halogen_sampler* sampler);

  /* [any] HALOGEN_E_INVALID names the parameter that is out of range. */
  halogen_status (*check)(const halogen_sampling_parameters* parameters, halogen_error* error);
  /* [any] The state of one sequence; allocates all it will need for `max_tokens` more tokens. */
  halogen_status (*state_create)(halogen_sampler* sampler,
                                 const halogen_sampling_parameters* parameters,
                                 const int32_t* prompt, uint32_t n_prompt, uint32_t max_tokens,
                                 halogen_sampling_state** state, halogen_error* error);
  void (*state_destroy)(halogen_sampling_state* state);

  /* [device] All rows in one call. Does not change the states' history: accept does. Called again
   * without an accept between, it gives the same tokens for the same logits. */
  halogen_status (*sample)(halogen_sampler* sampler, const halogen_sample_batch* batch,
                           halogen_error* error);
  /* [device] What was really taken, in order; penalties and the random sequence follow it, and
   * mirostat where the first token is the one that sample chose. */
  void (*accept)(halogen_sampling_state* state, const int32_t* tokens, uint32_t count);
} halogen_sampler_factory;

HALOGEN_END

#endif
