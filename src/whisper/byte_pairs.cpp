#include "whisper/byte_pairs.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>
#include <string>

#include "base/error.h"

namespace sotto {
namespace {

size_t table_size(size_t capacity) {
  return std::bit_ceil(2 * capacity + 1);
}

uint32_t hash_of(std::string_view bytes) noexcept {
  return static_cast<uint32_t>(std::hash<std::string_view>{}(bytes));
}

size_t count_ordinary(const Vocabulary& vocabulary) {
  return static_cast<size_t>(std::count(vocabulary.special.begin(), vocabulary.special.end(), false));
}

}  // namespace

TokenTable::TokenTable(size_t capacity) : slots_(table_size(capacity)) {}

size_t TokenTable::slot_of(const Vocabulary& vocabulary, std::string_view bytes,
                           uint32_t hash) const noexcept {
  const size_t mask = slots_.size() - 1;
  size_t i = hash & mask;
  while (slots_[i].token != kNotFound &&
         (slots_[i].hash != hash || vocabulary.tokens[static_cast<size_t>(slots_[i].token)] != bytes))
    i = (i + 1) & mask;
  return i;
}

void TokenTable::insert(const Vocabulary& vocabulary, TokenId token) {
  const std::string& bytes = vocabulary.tokens[static_cast<size_t>(token)];
  const uint32_t hash = hash_of(bytes);
  Slot& slot = slots_[slot_of(vocabulary, bytes, hash)];
  if (slot.token == kNotFound) slot = {hash, token};
}

TokenId TokenTable::find(const Vocabulary& vocabulary, std::string_view bytes) const noexcept {
  return slots_[slot_of(vocabulary, bytes, hash_of(bytes))].token;
}

BytePairs::BytePairs(const Vocabulary& vocabulary) : ordinary_(count_ordinary(vocabulary)) {
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    if (vocabulary.special[i] || vocabulary.tokens[i].empty()) continue;
    ordinary_.insert(vocabulary, static_cast<TokenId>(i));
    longest_ = std::max(longest_, vocabulary.tokens[i].size());
  }
  for (size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
    const char character = static_cast<char>(byte);
    byte_tokens_[byte] = ordinary_.find(vocabulary, {&character, 1});
    if (byte_tokens_[byte] == TokenTable::kNotFound)
      throw Error(ErrorCode::bad_model, "the vocabulary has no token for the byte {:#04x}", byte);
  }
  read_merges(vocabulary);
}

void BytePairs::read_merges(const Vocabulary& vocabulary) {
  merges_.reserve(vocabulary.merges.size());
  std::string joined;
  for (const auto& [left, right] : vocabulary.merges) {
    const size_t rank = merges_.size();
    joined.assign(left).append(right);
    const TokenId result = ordinary_.find(vocabulary, joined);
    if (left.empty() || right.empty() || result == TokenTable::kNotFound)
      throw Error(ErrorCode::bad_model, "merge {} of the vocabulary does not make a token", rank);
    merges_.push_back({result, static_cast<uint32_t>(left.size()), static_cast<int32_t>(rank)});
  }
  if (!std::is_sorted(merges_.begin(),
                      merges_.end()))  // most vocabularies number their tokens as they are made
    std::sort(merges_.begin(), merges_.end());
}

std::optional<int32_t> BytePairs::rank_of(TokenId result, size_t left_size) const noexcept {
  if (merges_.empty()) return result;
  const Merge wanted{result, static_cast<uint32_t>(left_size), 0};
  const auto merge = std::lower_bound(merges_.begin(), merges_.end(), wanted);
  const bool found =
      merge != merges_.end() && merge->result == result && merge->left_size == wanted.left_size;
  return found ? std::optional(merge->rank) : std::nullopt;
}

// The state of one piece. A symbol is a stretch of bytes that is one token so far; it is known by the place
// of its first byte, and symbols form a list that merging shortens. Possible merges wait in a heap; one that
// an earlier merge has made impossible is noticed when its turn comes.
class BytePairs::Merger {
 public:
  Merger(const BytePairs& pairs, const Vocabulary& vocabulary, std::string_view piece)
      : pairs_(pairs), vocabulary_(vocabulary), piece_(piece), end_(static_cast<int>(piece.size())) {
    symbols_.reserve(piece.size());
    for (int i = 0; i < end_; ++i)
      symbols_.push_back(
          {pairs.byte_tokens_[static_cast<unsigned char>(piece[static_cast<size_t>(i)])], i - 1, i + 1});
    for (int i = 0; i < end_; ++i) offer(i);
  }

  void run() {
    while (!candidates_.empty()) {
      const Candidate candidate = candidates_.top();
      candidates_.pop();
      if (still_possible(candidate)) join(candidate);
    }
  }

  void append_to(std::vector<TokenId>& tokens) const {
    for (int i = 0; i < end_; i = at(i).next) tokens.push_back(at(i).token);
  }

 private:
  struct Symbol {
    TokenId token;  // kNotFound once it has become part of the symbol before it
    int previous, next;
  };
  struct Candidate {
    int32_t rank;
    int place, middle, end;  // of the first byte, the first of the right part, and the one after the last
    TokenId result;
    bool operator>(const Candidate& other) const noexcept {
      return std::tie(rank, place) > std::tie(other.rank, other.place);
    }
  };

  Symbol& at(int place) { return symbols_[static_cast<size_t>(place)]; }
  const Symbol& at(int place) const { return symbols_[static_cast<size_t>(place)]; }

  void offer(int place) {
    const int middle = at(place).next;
    if (middle >= end_) return;
    const int end = at(middle).next;
    const auto size = static_cast<size_t>(end - place);
    if (size > pairs_.longest_) return;
    const TokenId result =
        pairs_.ordinary_.find(vocabulary_, piece_.substr(static_cast<size_t>(place), size));
    if (result == TokenTable::kNotFound) return;
    if (const auto rank = pairs_.rank_of(result, static_cast<size_t>(middle - place)))
      candidates_.push({*rank, place, middle, end, result});
  }

  bool still_possible(const Candidate& candidate) const {
    const Symbol& left = at(candidate.place);
    return left.token != TokenTable::kNotFound && left.next == candidate.middle &&
           at(candidate.middle).next == candidate.end;
  }

  void join(const Candidate& candidate) {
    Symbol& left = at(candidate.place);
    at(candidate.middle).token = TokenTable::kNotFound;
    left.token = candidate.result;
    left.next = candidate.end;
    if (left.next < end_) at(left.next).previous = candidate.place;
    offer(candidate.place);
    if (left.previous >= 0) offer(left.previous);
  }

  const BytePairs& pairs_;
  const Vocabulary& vocabulary_;
  std::string_view piece_;
  int end_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates_;
};

void BytePairs::encode(const Vocabulary& vocabulary, std::string_view piece,
                       std::vector<TokenId>& tokens) const {
  Merger merger(*this, vocabulary, piece);
  merger.run();
  merger.append_to(tokens);
}

}  // namespace sotto
