#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <vector>

#include "backend/vulkan/allocator.h"
#include "backend/vulkan/pipelines.h"

namespace sotto::vk {

struct Groups {
  uint32_t x = 1, y = 1, z = 1;
};

// The work of one device, in order: each operation sees what all before it have written. Work is collected
// and handed over in pieces, so that no piece is so long that a desktop's watchdog takes it for a hang.
class Stream {
 public:
  Stream(Device& device, Allocator& allocator, Pipelines& pipelines);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // A kernel. `work` is about how many arithmetic operations it does.
  template <class Parameters>
  void run(const Pipeline& pipeline, std::initializer_list<View> buffers, const Parameters& parameters,
           Groups groups, double work) {
    static_assert(sizeof(Parameters) <= Pipelines::kPushBytes && sizeof(Parameters) % 4 == 0);
    run(pipeline, buffers, &parameters, sizeof(parameters), groups, work);
  }
  void copy(const View& from, const View& to, const std::vector<VkBufferCopy>& regions);

  // Memory that the program fills for kernels, up to the next pace(), or that it reads once finish() is
  // through, up to the next call after that.
  View upload(size_t bytes);
  View download(size_t bytes);

  void pace();                    // hands over what was collected where it is enough; between operations
  void submit();                  // hands over what was collected
  void finish();                  // and waits for all of it
  bool is_idle() const noexcept;  // nothing is collected or under way

  // Operations that a piece may hold. A kernel alone should have less.
  double piece_work() const noexcept { return piece_work_; }

 private:
  // What one piece needs until the device is done with it.
  struct Piece {
    VkCommandPool pool = VK_NULL_HANDLE;
    VkCommandBuffer commands = nullptr;
    VkFence fence = VK_NULL_HANDLE;
    std::vector<VkDescriptorPool> set_pools;
    size_t sets_used = 0;
    struct Chunk {
      View view;
      size_t used = 0;
    };
    std::vector<Chunk> uploads, downloads;
    uint64_t ticket = 0;  // of its submission; 0: none is under way
    bool recording = false;
    double work = 0;
  };

  void run(const Pipeline& pipeline, std::initializer_list<View> buffers, const void* parameters,
           size_t parameter_bytes, Groups groups, double work);
  Piece& current();
  VkDescriptorSet next_set(Piece& piece);
  void see_all_before(Piece& piece);
  void wait(Piece& piece);
  View take(std::vector<Piece::Chunk>& chunks, size_t bytes, Place place);
  void destroy(Piece& piece) noexcept;

  Device& device_;
  Allocator& allocator_;
  Pipelines& pipelines_;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  static constexpr size_t kPieces = 3;
  std::array<Piece, kPieces> pieces_;
  size_t now_ = 0;
  uint64_t tickets_ = 0;
  double piece_work_;
};

}  // namespace sotto::vk
