// ADtrees: counts cached so that any contingency table follows without reading records
// (Moore and Lee 1998).
//
// A node stands for a conjunction of values. A Vary of a node and a column has one child for each
// value that occurs there, except the most common one, whose counts follow by subtraction. Columns
// come in a fixed order, and a node has Varies for later columns only. Nodes of fewer than
// leaf_size records have none: a list of their records is counted instead.
//
// The tree grows as it is asked. Everything is in flat arrays that refer to each other by number,
// so a tree can be saved, mapped into memory and read by many threads: readers share a lock, and a
// question that needs something new is asked again by its thread alone.
//
// A record list can always be made again from the parent's, so lists are the first to go when
// memory runs out, and then the Varies that were used least recently, with all below them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <stdexcept>
#include <vector>

#include "engine/axes.hpp"
#include "engine/engine.hpp"

namespace tacit {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

struct Node {
  std::uint32_t records;  // how many there are
  std::uint32_t vary;     // the Vary whose child this is
  std::uint32_t code;     // the value of that Vary's column
  std::uint32_t slots;    // where its Varies are listed, one position for each later column
  std::uint32_t list;     // where its records are listed
};

struct Vary {
  std::uint32_t parent;    // the node
  std::uint32_t position;  // of its column in the tree's order
  std::uint32_t common;    // the code that has no child
  std::uint32_t first;     // child
  std::uint32_t children;
  std::uint32_t dropped;  // records of values too rare to be kept
};

// A flat array that grows in place where the system can do that. It begins as a view of somebody
// else's array, maybe an empty one.
template <class T>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { reset(); }

  void reset() {
    if (owned_) std::free(data_);
    data_ = nullptr;
    size_ = capacity_ = 0;
    owned_ = false;
  }
  void view(const T* data, std::size_t size) {
    reset();
    data_ = const_cast<T*>(data);  // never written before make_writable()
    size_ = size;
  }
  void zeros(std::size_t size) {  // which take memory when they are first looked at
    reset();
    data_ = static_cast<T*>(std::calloc(size + !size, sizeof(T)));
    if (!data_) throw std::bad_alloc();
    size_ = capacity_ = size;
    owned_ = true;
  }
  bool owned() const { return owned_; }
  void reserve(std::size_t capacity) {
    if (owned_ && capacity <= capacity_) return;
    void* old = owned_ ? static_cast<void*>(data_) : nullptr;
    T* data = static_cast<T*>(std::realloc(old, (capacity + !capacity) * sizeof(T)));
    if (!data) throw std::bad_alloc();
    if (!owned_ && size_) std::memcpy(data, data_, size_ * sizeof(T));
    data_ = data;
    capacity_ = capacity;
    owned_ = true;
  }
  void shrink() {
    if (!owned_) return;
    void* data = std::realloc(static_cast<void*>(data_), (size_ + !size_) * sizeof(T));
    if (!data) return;
    data_ = static_cast<T*>(data);
    capacity_ = size_;
  }
  void resize(std::size_t size) { size_ = size; }  // within what is reserved
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(capacity_ * sizeof(T)); }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
  bool owned_ = false;
};

// The memory limit cannot be kept.
struct OverLimit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What a tree was restored from is at odds with the records.
struct Unsound : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TreeOptions {
  std::int64_t leaf_size;  // nodes of fewer records are leaves
  std::int64_t max_depth;  // and so are nodes of this many conditions
  std::int64_t limit;      // bytes
  std::int64_t min_count;  // values of fewer records at a node are not kept; 1 for an exact tree
};

// A tree's arrays, as they are saved. `sums` only where records have weights.
struct TreeArrays {
  const Node* nodes;
  std::size_t n_nodes;
  const Vary* varies;
  std::size_t n_varies;
  const std::uint32_t* slots;
  std::size_t n_slots;
  const std::int32_t* lists;
  std::size_t n_lists;
  const void* sums;  // 16 bytes for each node, maybe not aligned to them
};

// Says what is wrong with arrays that claim to be a tree over the store, or null. O(all of them).
const char* check_tree(const ColumnStore& store, const std::vector<std::int64_t>& order,
                       const TreeArrays& tree);

// The same of its root alone.
const char* check_root(const ColumnStore& store, const std::vector<std::int64_t>& order,
                       const TreeArrays& tree);

// And of one Vary and its children, as far as they themselves can tell.
const char* check_vary(const ColumnStore& store, const std::vector<std::int64_t>& order,
                       const TreeArrays& tree, std::size_t vary);

// Arrays of a tree whose blocks are read from a file when they are first used. A Vary and a list of
// records are checked then, too. Safe from several threads.
class Unread {
 public:
  enum Part { kNodes, kVaries, kSlots, kLists, kSums };
  using Fetch = std::function<void(int part, std::size_t block)>;  // reads a block, or throws

  // bytes: of each part; 0 where all of it is there.
  Unread(Fetch fetch, std::size_t block, const std::array<std::size_t, 5>& bytes,
         const TreeArrays& tree);
  void need(Part part, std::size_t begin, std::size_t end) {  // bytes
    if (parts_[part].empty()) return;
    for (std::size_t b = begin / block_; b * block_ < end; ++b)
      if (!std::atomic_ref(parts_[part][b]).load(std::memory_order_acquire)) fetch(part, b);
  }
  void need_all();
  // Throw Unsound if what they lead to is not to be followed.
  void need_vary(const ColumnStore& store, const std::vector<std::int64_t>& order,
                 std::uint32_t node, std::uint32_t position, std::uint32_t vary);
  void need_list(const ColumnStore& store, std::uint32_t node);

 private:
  void fetch(Part part, std::size_t block);

  Fetch fetch_;
  std::size_t block_;
  TreeArrays tree_;
  std::array<std::vector<std::uint8_t>, 5> parts_;  // which blocks are there
  Pool<std::uint8_t> varies_seen_, lists_seen_;
  std::mutex mutex_;
};

class Tree : public Engine {
 public:
  Tree(std::shared_ptr<const ColumnStore> store, std::vector<std::int64_t> order,
       TreeOptions options);

  void dense(const Question& question, Result out, Poll poll) override;
  SparseCells sparse(const Question& question, Poll poll) override;
  std::int64_t bytes() const override;

  // Tables of a tree that keeps no small counts: an estimate and bounds for every cell.
  void bounded(const Question& question, Result estimate, Result lower, Result upper, Poll poll);

  void build(Poll poll);  // everything, down to the leaves
  void clear();
  // Arrays that are checked, or checked when they are used; they outlive the tree.
  void restore(const TreeArrays& arrays, std::unique_ptr<Unread> unread = nullptr);

  struct Sizes {
    std::int64_t nodes, varies, lists, bytes, evictions;
  };
  Sizes sizes() const;
  std::int64_t evictions() const { return evictions_.load(std::memory_order_relaxed); }
  std::int64_t position(std::int64_t column) const {  // in the tree's order
    return position_[static_cast<std::size_t>(column)];
  }

  // Calls body(arrays) while nobody changes them.
  template <class Body>
  void read(const Body& body) const {
    const std::shared_lock lock(mutex_);
    if (unread_) unread_->need_all();
    body(TreeArrays{nodes_.data(), nodes_.size(), varies_.data(), varies_.size(), slots_.data(),
                    slots_.size(), lists_.data(), lists_.size(), sums_.data()});
  }

 private:
  template <class Count>
  friend class TableWalk;
  friend class BoundWalk;
  struct Missing {};    // something must grow first
  struct NeedsRoom {};  // and there is no room for it

  // Asks question(grow, tick): first as one of many readers, then alone.
  template <class Ask>
  void answer(const std::vector<Axis>& axes, const Ask& ask);

  // Growing. Alone only.
  void plant();
  void make_writable();
  template <class T>
  void make_room_for(Pool<T>& pool, std::size_t more);
  std::uint32_t expand(std::uint32_t node, std::uint32_t position, const Some& some);
  std::uint32_t slot_of(std::uint32_t node, std::uint32_t position) const;
  void ensure_list(std::uint32_t node);
  void check_children(const Vary& vary, const Some& some);
  void load_columns(const std::vector<Axis>& axes, std::uint32_t now);
  void build_below(std::uint32_t node, std::uint32_t from, std::int64_t depth, const Some& some,
                   Poller& poller);
  void forget_lists();
  bool forget_unused(std::uint32_t now);
  void shrink();
  std::int64_t pool_bytes() const;

  std::uint32_t reach(std::uint32_t node, std::uint32_t position, bool grow, std::uint32_t now,
                      Poller& poller);

  // Reading.
  std::vector<Axis> tree_axes(const Question& question) const;
  std::uint32_t first_position(std::uint32_t node) const {  // of the columns a node has Varies for
    return node == 0 ? 0 : varies_[nodes_[node].vary].position + 1;
  }
  bool is_leaf(std::uint32_t node, std::int64_t depth) const {
    return nodes_[node].records < options_.leaf_size || depth >= options_.max_depth;
  }
  bool has_list(std::uint32_t node) const { return node == 0 || nodes_[node].list != kNone; }
  Some some_of(std::uint32_t node) const {
    if (node == 0) return {nullptr, store_->n_records()};
    if (unread_) unread_->need_list(*store_, node);
    return {lists_.data() + nodes_[node].list, nodes_[node].records};
  }

  std::vector<std::int64_t> order_, position_;  // columns in the tree's order, and back
  TreeOptions options_;
  Pool<Node> nodes_;
  Pool<Vary> varies_;
  Pool<std::uint32_t> stamps_;  // when each Vary was last used
  Pool<std::uint32_t> slots_;
  Pool<std::int32_t> lists_;
  Pool<Int128> sums_;  // of each node, where records have weights
  std::int64_t scratch_ = 0;
  std::atomic<std::int64_t> evictions_{0};
  std::unique_ptr<Unread> unread_;
  bool restored_ = false;  // its counts come from a file, and records have not been looked at
  std::vector<std::uint32_t> counts_;
  std::atomic<std::uint32_t> tick_{0};
  mutable std::shared_mutex mutex_;
};

template <class Ask>
void Tree::answer(const std::vector<Axis>& axes, const Ask& ask) {
  const std::uint32_t now = ++tick_;
  load_columns(axes, now);
  try {
    const std::shared_lock lock(mutex_);
    ask(false, now);
    return;
  } catch (const Missing&) {
  }
  const std::unique_lock lock(mutex_);
  make_writable();
  for (std::size_t before = kNone;;) {
    try {
      ask(true, now);
      return;
    } catch (const NeedsRoom&) {
      forget_lists();
      const bool forgot = forget_unused(now);
      if (varies_.size() == before && !forgot)
        throw OverLimit("one table of these columns needs more than that");
      before = varies_.size();
      ++evictions_;
    }
  }
}

}  // namespace tacit
