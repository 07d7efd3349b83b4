#include "itemset/ranking.hpp"

#include <algorithm>
#include <numeric>

namespace tacit {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// What sets of one count and one size share: the place of the next of them.
struct Place {
  std::int64_t set = 0, item = 0;
};

// Numbers for counts and sizes, in the order in which sets are listed.
class Keys {
 public:
  Keys(const std::vector<Collector>& found, std::int64_t min_count) {
    std::int64_t n_sets = 0, least = 0;
    for (const Collector& one : found)
      one.each([&](const std::uint32_t*, std::int64_t size, std::int64_t count) {
        if (count < min_count) return;
        least = n_sets++ == 0 ? count : std::min(least, count);
        most_ = std::max(most_, count);
        sizes_ = std::max(sizes_, size + 1);
      });
    const __int128 range = static_cast<__int128>(most_ - least + 1) * sizes_;
    if (range <= 4 * static_cast<__int128>(n_sets) + kFew) {
      size_ = static_cast<std::int64_t>(range);
      return;
    }
    known_.reserve(index(n_sets));
    for (const Collector& one : found)
      one.each([&](const std::uint32_t*, std::int64_t size, std::int64_t count) {
        if (count >= min_count) known_.push_back({most_ - count, size});
      });
    std::sort(known_.begin(), known_.end());
    known_.erase(std::unique(known_.begin(), known_.end()), known_.end());
    size_ = static_cast<std::int64_t>(known_.size());
  }

  std::size_t of(std::int64_t count, std::int64_t size) const {
    if (known_.empty()) return index((most_ - count) * sizes_ + size);
    const std::pair<std::int64_t, std::int64_t> one{most_ - count, size};
    return index(std::lower_bound(known_.begin(), known_.end(), one) - known_.begin());
  }
  std::int64_t items(std::size_t key) const {
    return known_.empty() ? static_cast<std::int64_t>(key) % sizes_ : known_[key].second;
  }
  std::size_t size() const { return index(size_); }

 private:
  static constexpr std::int64_t kFew = 1 << 16;
  std::int64_t most_ = 0, sizes_ = 1, size_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> known_;  // empty: all of a range
};

// Puts sets of one size into the order of their items.
void sort_sets(std::uint32_t* items, std::int64_t n_sets, std::int64_t size) {
  if (n_sets < 2 || size == 0) return;
  const std::vector<std::uint32_t> before(items, items + n_sets * size);
  std::vector<std::int64_t> order(index(n_sets));
  std::iota(order.begin(), order.end(), 0);
  const auto set = [&](std::int64_t k) { return before.data() + k * size; };
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return std::lexicographical_compare(set(a), set(a) + size, set(b), set(b) + size);
  });
  for (const std::int64_t k : order) items = std::copy(set(k), set(k) + size, items);
}

}  // namespace

Itemsets ranked_itemsets(std::vector<Collector>& found, std::int64_t min_count,
                         const std::uint32_t* labels, bool sorted) {
  const Keys keys(found, min_count);
  std::vector<Place> places(keys.size());
  for (const Collector& one : found)
    one.each([&](const std::uint32_t*, std::int64_t size, std::int64_t count) {
      if (count >= min_count) ++places[keys.of(count, size)].set;
    });
  Itemsets out;
  out.min_count = min_count;
  for (std::size_t key = 0; key < places.size(); ++key) {
    const std::int64_t n = places[key].set;
    places[key] = {out.n_sets, out.n_items};
    out.n_sets += n;
    out.n_items += n * keys.items(key);
  }
  out.indptr = Buffer<std::int64_t>(index(out.n_sets) + 1);
  out.counts = Buffer<std::int64_t>(index(out.n_sets));
  out.items = Buffer<std::uint32_t>(index(out.n_items));
  out.indptr[0] = 0;
  for (Collector& one : found)
    one.drain([&](const std::uint32_t* items, std::int64_t size, std::int64_t count) {
      if (count < min_count) return;
      Place& place = places[keys.of(count, size)];
      std::uint32_t* const to = out.items.data() + place.item;
      for (std::int64_t k = 0; k < size; ++k) to[k] = labels ? labels[items[k]] : items[k];
      out.counts[index(place.set)] = count;
      place.item += size;
      out.indptr[index(++place.set)] = place.item;
    });
  if (sorted)
    for (std::size_t key = 0; key < places.size(); ++key) {
      const std::int64_t first = key == 0 ? 0 : places[key - 1].set;
      sort_sets(out.items.data() + out.indptr[index(first)], places[key].set - first,
                keys.items(key));
    }
  return out;
}

}  // namespace tacit
