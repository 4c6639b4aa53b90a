#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/checkpoint.h"

namespace sotto {

// Finds a token's id by its bytes. It holds ids only: the bytes stay in the vocabulary, which each call is
// given, so that an owner of both can be copied and moved.
class TokenTable {
 public:
  explicit TokenTable(size_t capacity);

  void insert(const Vocabulary& vocabulary, TokenId token);  // of equal tokens the first is kept
  TokenId find(const Vocabulary& vocabulary, std::string_view bytes) const noexcept;  // kNotFound if absent

  static constexpr TokenId kNotFound = -1;

 private:
  struct Slot {
    uint32_t hash = 0;
    TokenId token = kNotFound;
  };
  size_t slot_of(const Vocabulary& vocabulary, std::string_view bytes, uint32_t hash) const noexcept;

  std::vector<Slot> slots_;  // a power of two, at most half full
};

// The merging half of byte-pair encoding: one piece of text to ordinary tokens.
class BytePairs {
 public:
  // Throws Error(bad_model) when a byte has no token or a merge makes something that is none.
  explicit BytePairs(const Vocabulary& vocabulary);

  // Appends the tokens of `piece`. Takes O(n log n) steps for n bytes.
  void encode(const Vocabulary& vocabulary, std::string_view piece, std::vector<TokenId>& tokens) const;

 private:
  class Merger;

  // A merge is known by the token it makes and the size of its left part, which together name both parts.
  struct Merge {
    TokenId result;
    uint32_t left_size;
    int32_t rank;  // the lowest goes first

    bool operator<(const Merge& other) const noexcept {
      return std::tie(result, left_size, rank) < std::tie(other.result, other.left_size, other.rank);
    }
  };

  void read_merges(const Vocabulary& vocabulary);
  std::optional<int32_t> rank_of(TokenId result, size_t left_size) const noexcept;

  TokenTable ordinary_;
  std::vector<Merge> merges_;  // sorted; empty: every pair that makes a token is joined, the lowest id first
  std::array<TokenId, 256> byte_tokens_{};
  size_t longest_ = 0;  // bytes of the longest ordinary token
};

}  // namespace sotto
