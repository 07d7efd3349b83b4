// How an ADtree grows, and what it forgets when memory runs out.
#include <algorithm>
#include <functional>

#include "engine/adtree.hpp"

namespace tacit {
namespace {

// The stamp from which on to keep, so that about this fraction of all is younger.
std::uint32_t oldest_kept(const Pool<std::uint32_t>& stamps, double fraction) {
  std::vector<std::uint32_t> ages(stamps.data(), stamps.data() + stamps.size());
  const auto keep = static_cast<std::size_t>(fraction * static_cast<double>(ages.size()));
  if (keep >= ages.size()) return 0;
  const auto first_to_go = ages.begin() + static_cast<std::ptrdiff_t>(keep);
  std::nth_element(ages.begin(), first_to_go, ages.end(), std::greater<>());
  return *first_to_go + 1;
}

}  // namespace

Tree::Tree(std::shared_ptr<const ColumnStore> store, std::vector<std::int64_t> order,
           TreeOptions options)
    : Engine(std::move(store)),
      order_(std::move(order)),
      position_(order_.size()),
      options_(options) {
  for (std::size_t k = 0; k < order_.size(); ++k)
    position_[static_cast<std::size_t>(order_[k])] = static_cast<std::int64_t>(k);
  plant();
}

// A tree at birth is its root.
void Tree::plant() {
  nodes_.reserve(1);
  nodes_.resize(1);
  nodes_[0] = {static_cast<std::uint32_t>(store_->n_records()), kNone, 0, kNone, kNone};
  if (store_->weighted()) {
    sums_.reserve(1);
    sums_.resize(1);
    sums_[0] = store_->weights().total();
  }
  // Own all of them from the start: only restored trees are views.
  varies_.reserve(0);
  stamps_.reserve(0);
  slots_.reserve(0);
  lists_.reserve(0);
}

void Tree::clear() {
  const std::unique_lock lock(mutex_);
  nodes_.reset();
  varies_.reset();
  stamps_.reset();
  slots_.reset();
  lists_.reset();
  sums_.reset();
  unread_.reset();
  restored_ = false;
  plant();
}

void Tree::restore(const TreeArrays& arrays, std::unique_ptr<Unread> unread) {
  nodes_.view(arrays.nodes, arrays.n_nodes);
  varies_.view(arrays.varies, arrays.n_varies);
  slots_.view(arrays.slots, arrays.n_slots);
  lists_.view(arrays.lists, arrays.n_lists);
  // Sums that are there already may not be aligned: those are copied.
  const bool aligned = reinterpret_cast<std::uintptr_t>(arrays.sums) % alignof(Int128) == 0;
  if (arrays.sums && unread && aligned) {
    sums_.view(static_cast<const Int128*>(arrays.sums), arrays.n_nodes);
  } else if (arrays.sums) {
    sums_.reserve(arrays.n_nodes);
    sums_.resize(arrays.n_nodes);
    std::memcpy(sums_.data(), arrays.sums, arrays.n_nodes * sizeof(Int128));
  }
  stamps_.zeros(arrays.n_varies);
  unread_ = std::move(unread);
  if (unread_) {
    unread_->need(Unread::kNodes, 0, sizeof(Node));
    unread_->need(Unread::kSums, 0, sizeof(Int128));
  }
  restored_ = true;
}

// Before the first change, a restored tree copies what it was only looking at.
void Tree::make_writable() {
  if (nodes_.owned()) return;
  if (unread_) {
    unread_->need_all();
    const TreeArrays arrays{nodes_.data(),  nodes_.size(), varies_.data(),
                            varies_.size(), slots_.data(), slots_.size(),
                            lists_.data(),  lists_.size(), sums_.data()};
    if (const char* problem = check_tree(*store_, order_, arrays)) throw Unsound(problem);
    unread_.reset();
  }
  nodes_.reserve(nodes_.size());
  varies_.reserve(varies_.size());
  slots_.reserve(slots_.size());
  lists_.reserve(lists_.size());
  if (store_->weighted()) sums_.reserve(sums_.size());
}

std::int64_t Tree::pool_bytes() const {
  return nodes_.bytes() + varies_.bytes() + stamps_.bytes() + slots_.bytes() + lists_.bytes() +
         sums_.bytes();
}

std::int64_t Tree::bytes() const {
  const std::shared_lock lock(mutex_);
  return pool_bytes() + store_->bytes();
}

Tree::Sizes Tree::sizes() const {
  const std::shared_lock lock(mutex_);
  return {static_cast<std::int64_t>(nodes_.size()), static_cast<std::int64_t>(varies_.size()),
          static_cast<std::int64_t>(lists_.size()), pool_bytes() + store_->bytes(), evictions_};
}

// Grows by half where the limit allows it, and by what is needed where it does not. A fifth of the
// limit is kept free for what forgetting takes.
template <class T>
void Tree::make_room_for(Pool<T>& pool, std::size_t more) {
  const std::size_t needed = pool.size() + more;
  if (needed <= pool.capacity()) return;
  if (needed >= kNone) throw NeedsRoom();
  const std::int64_t used = pool_bytes() - pool.bytes() + scratch_ + store_->bytes();
  const std::int64_t room = options_.limit - options_.limit / 5 - used;
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(room, 0)) / sizeof(T);
  if (needed > most) throw NeedsRoom();
  const std::size_t generous = std::max<std::size_t>(needed + needed / 2, 64);
  pool.reserve(std::min({generous, most, static_cast<std::size_t>(kNone)}));
}

// Makes the codes of a question's columns. They count towards the limit: the tree makes room.
void Tree::load_columns(const std::vector<Axis>& axes, std::uint32_t now) {
  const auto missing = [&] {
    std::int64_t bytes = 0;
    for (const Axis& axis : axes) bytes += store_->missing_bytes(axis.column);
    return bytes;
  };
  if (missing() == 0) return;
  const std::unique_lock lock(mutex_);
  const std::int64_t most = options_.limit - options_.limit / 5;
  const std::size_t root = sizeof(Node) + (store_->weighted() ? sizeof(Int128) : 0);
  if (store_->bytes() + missing() + static_cast<std::int64_t>(root) > most)
    throw OverLimit("with these columns, codes of columns alone need more than that");
  for (const Axis& axis : axes) store_->column(axis.column);
  if (pool_bytes() + store_->bytes() <= most) return;
  make_writable();
  forget_lists();
  while (forget_unused(now)) {
  }
  ++evictions_;
}

std::uint32_t Tree::slot_of(std::uint32_t node, std::uint32_t position) const {
  const std::uint32_t slots = nodes_[node].slots;
  if (slots == kNone) return kNone;
  const std::size_t at = std::size_t{slots} + position - first_position(node);
  if (unread_)
    unread_->need(Unread::kSlots, at * sizeof(std::uint32_t), (at + 1) * sizeof(std::uint32_t));
  return slots_[at];
}

// Makes the Vary of a node for the column at a position. O(records of the node + arity).
std::uint32_t Tree::expand(std::uint32_t node, std::uint32_t position, const Some& some) {
  const std::int64_t c = order_[position];
  const Column& column = store_->column(c);
  const auto arity = static_cast<std::size_t>(column.arity);
  counts_.assign(arity, 0);
  count_codes(column, some, counts_.data());
  const auto common =
      static_cast<std::size_t>(std::max_element(counts_.begin(), counts_.end()) - counts_.begin());
  std::size_t children = 0;
  std::uint32_t dropped = 0;
  for (std::size_t code = 0; code < arity; ++code) {
    if (code == common || counts_[code] == 0) continue;
    if (counts_[code] < options_.min_count)
      dropped += counts_[code];
    else
      ++children;
  }
  // All the room first: nothing is changed by halves.
  const bool new_slots = nodes_[node].slots == kNone;
  const std::size_t n_slots = new_slots ? order_.size() - first_position(node) : 0;
  make_room_for(slots_, n_slots);
  make_room_for(varies_, 1);
  make_room_for(stamps_, 1);
  make_room_for(nodes_, children);
  std::vector<Int128> sums;
  if (store_->weighted()) {
    make_room_for(sums_, children);
    sums.resize(arity);
    tally_records(*store_, some, Tally<Int128>{store_->weights()}, {c}, {1}, sums.data());
  }
  if (new_slots) {
    nodes_[node].slots = static_cast<std::uint32_t>(slots_.size());
    std::fill_n(slots_.data() + slots_.size(), n_slots, kNone);
    slots_.resize(slots_.size() + n_slots);
  }
  const auto vary = static_cast<std::uint32_t>(varies_.size());
  const auto first = static_cast<std::uint32_t>(nodes_.size());
  varies_.resize(vary + 1);
  varies_[vary] = {node,
                   position,
                   static_cast<std::uint32_t>(common),
                   first,
                   static_cast<std::uint32_t>(children),
                   dropped};
  stamps_.resize(vary + 1);
  stamps_[vary] = 0;
  nodes_.resize(first + children);
  if (store_->weighted()) sums_.resize(first + children);
  std::size_t child = first;
  for (std::size_t code = 0; code < arity; ++code) {
    if (code == common || counts_[code] == 0 || counts_[code] < options_.min_count) continue;
    nodes_[child] = {counts_[code], vary, static_cast<std::uint32_t>(code), kNone, kNone};
    if (store_->weighted()) sums_[child] = sums[code];
    ++child;
  }
  slots_[nodes_[node].slots + position - first_position(node)] = vary;
  return vary;
}

// Lists are written to room for as many records as the nodes say: a file may say too few.
void Tree::check_children(const Vary& vary, const Some& some) {
  if (!restored_) return;
  const Column& column = store_->column(order_[vary.position]);
  counts_.assign(static_cast<std::size_t>(column.arity), 0);
  count_codes(column, some, counts_.data());
  for (std::uint32_t c = vary.first; c < vary.first + vary.children; ++c)
    if (nodes_[c].records != counts_[nodes_[c].code])
      throw Unsound("its counts are not those of the records");
}

// Lists the records of a node and of its siblings, from their parent's. O(records of the parent).
void Tree::ensure_list(std::uint32_t node) {
  if (has_list(node)) return;
  const std::uint32_t vary = nodes_[node].vary;
  ensure_list(varies_[vary].parent);
  const Vary v = varies_[vary];
  check_children(v, some_of(v.parent));
  std::size_t total = 0;
  for (std::uint32_t c = v.first; c < v.first + v.children; ++c)
    if (nodes_[c].list == kNone) total += nodes_[c].records;
  make_room_for(lists_, total);
  const Column& column = store_->column(order_[v.position]);
  std::vector<std::int32_t*> ends(static_cast<std::size_t>(column.arity), nullptr);
  std::size_t at = lists_.size();
  for (std::uint32_t c = v.first; c < v.first + v.children; ++c) {
    if (nodes_[c].list != kNone) continue;
    nodes_[c].list = static_cast<std::uint32_t>(at);
    ends[nodes_[c].code] = lists_.data() + at;
    at += nodes_[c].records;
  }
  lists_.resize(at);
  split_codes(column, some_of(v.parent), ends.data());
}

void Tree::build(Poll poll) {
  const std::unique_lock lock(mutex_);
  std::int64_t missing = 0;
  for (const std::int64_t c : order_) missing += store_->missing_bytes(c);
  if (pool_bytes() + store_->bytes() + missing > options_.limit - options_.limit / 5)
    throw OverLimit("the whole tree needs more than that");
  make_writable();
  scratch_ = 0;
  Poller poller(poll);
  try {
    if (!is_leaf(0, 0)) build_below(0, 0, 0, some_of(0), poller);
  } catch (const NeedsRoom&) {
    scratch_ = 0;
    throw OverLimit("the whole tree needs more than that");
  } catch (...) {
    scratch_ = 0;
    throw;
  }
}

void Tree::build_below(std::uint32_t node, std::uint32_t from, std::int64_t depth, const Some& some,
                       Poller& poller) {
  const auto n_positions = static_cast<std::uint32_t>(order_.size());
  for (std::uint32_t position = from; position < n_positions; ++position) {
    poller.check();
    std::uint32_t vary = slot_of(node, position);
    if (vary == kNone) vary = expand(node, position, some);
    if (position + 1 == n_positions) continue;  // nobody asks its children for more
    const Vary v = varies_[vary];
    const Column& column = store_->column(order_[position]);
    // Leaves keep their lists; those of other children are needed only as long as we are there.
    std::size_t kept = 0, passing = 0;
    for (std::uint32_t c = v.first; c < v.first + v.children; ++c) {
      if (!is_leaf(c, depth + 1))
        passing += nodes_[c].records;
      else if (nodes_[c].list == kNone)
        kept += nodes_[c].records;
    }
    if (kept + passing == 0) continue;
    check_children(v, some);
    make_room_for(lists_, kept);
    const auto bytes = static_cast<std::int64_t>(passing * sizeof(std::int32_t));
    if (pool_bytes() + scratch_ + bytes + store_->bytes() > options_.limit) throw NeedsRoom();
    Buffer<std::int32_t> buffer(passing);
    scratch_ += bytes;
    std::vector<std::int32_t*> ends(static_cast<std::size_t>(column.arity), nullptr);
    std::size_t at = lists_.size();
    std::int32_t* next = buffer.data();
    for (std::uint32_t c = v.first; c < v.first + v.children; ++c) {
      if (!is_leaf(c, depth + 1)) {
        ends[nodes_[c].code] = next;
        next += nodes_[c].records;
      } else if (nodes_[c].list == kNone) {
        nodes_[c].list = static_cast<std::uint32_t>(at);
        ends[nodes_[c].code] = lists_.data() + at;
        at += nodes_[c].records;
      }
    }
    lists_.resize(at);
    split_codes(column, some, ends.data());
    next = buffer.data();
    for (std::uint32_t c = v.first; c < v.first + v.children; ++c) {
      if (is_leaf(c, depth + 1)) continue;
      const Some below{next, nodes_[c].records};
      next += below.n;
      build_below(c, position + 1, depth + 1, below, poller);
    }
    scratch_ -= bytes;
  }
}

void Tree::forget_lists() {
  for (std::size_t n = 0; n < nodes_.size(); ++n) nodes_[n].list = kNone;
  lists_.reset();
  lists_.reserve(0);
}

// Drops the Varies used least recently, so that the rest takes at most half of the limit; those of
// the question at hand stay. What lies below a Vary was never used later than it. O(the tree).
bool Tree::forget_unused(std::uint32_t now) {
  const auto size_of = [&](const Vary& v) {
    const std::size_t sum = store_->weighted() ? sizeof(Int128) : 0;
    return static_cast<std::int64_t>(sizeof(Vary) + 2 * sizeof(std::uint32_t) +
                                     v.children * (sizeof(Node) + sum));
  };
  const std::int64_t aim = std::max<std::int64_t>(0, options_.limit / 2 - store_->bytes());
  std::int64_t used = 0;
  for (std::size_t v = 0; v < varies_.size(); ++v) used += size_of(varies_[v]);
  if (used + slots_.bytes() <= aim) {
    shrink();
    return false;
  }

  const std::uint32_t oldest = std::min(
      now,
      oldest_kept(stamps_, static_cast<double>(aim) / static_cast<double>(used + slots_.bytes())));

  // Parents come before children, so one pass moves everything down.
  std::vector<std::uint32_t> moved(varies_.size(), kNone), was_first(varies_.size());
  std::size_t n_varies = 0, n_nodes = 1;
  nodes_[0].slots = kNone;
  for (std::size_t v = 0; v < varies_.size(); ++v) {
    Vary vary = varies_[v];
    was_first[v] = vary.first;
    if (vary.parent != 0) {
      // The parent may have moved: it is found through its own Vary, the last that begins before
      // it.
      const auto behind = std::upper_bound(
          was_first.begin(), was_first.begin() + static_cast<std::ptrdiff_t>(v), vary.parent);
      const auto above = static_cast<std::size_t>(behind - was_first.begin() - 1);
      if (moved[above] == kNone) continue;
      vary.parent = varies_[moved[above]].first + (vary.parent - was_first[above]);
    }
    if (stamps_[v] < oldest) continue;
    const auto to = static_cast<std::uint32_t>(n_varies++);
    moved[v] = to;
    const std::uint32_t from = vary.first;
    vary.first = static_cast<std::uint32_t>(n_nodes);
    for (std::uint32_t c = 0; c < vary.children; ++c) {
      Node node = nodes_[from + c];
      node.vary = to;
      node.slots = kNone;
      nodes_[n_nodes + c] = node;
      if (store_->weighted()) sums_[n_nodes + c] = sums_[from + c];
    }
    n_nodes += vary.children;
    varies_[to] = vary;
    stamps_[to] = stamps_[v];
  }
  const bool forgot = n_varies < varies_.size();
  varies_.resize(n_varies);
  stamps_.resize(n_varies);
  nodes_.resize(n_nodes);
  if (store_->weighted()) sums_.resize(n_nodes);

  // Slots are listed anew, for the nodes that still have Varies.
  slots_.resize(0);
  for (std::uint32_t v = 0; v < n_varies; ++v) {
    const std::uint32_t parent = varies_[v].parent, first = first_position(parent);
    if (nodes_[parent].slots == kNone) {
      nodes_[parent].slots = static_cast<std::uint32_t>(slots_.size());
      const std::size_t n = order_.size() - first;
      std::fill_n(slots_.data() + slots_.size(), n, kNone);
      slots_.resize(slots_.size() + n);
    }
    slots_[nodes_[parent].slots + varies_[v].position - first] = v;
  }
  shrink();
  return forgot;
}

void Tree::shrink() {
  varies_.shrink();
  stamps_.shrink();
  nodes_.shrink();
  sums_.shrink();
  slots_.shrink();
}

}  // namespace tacit
