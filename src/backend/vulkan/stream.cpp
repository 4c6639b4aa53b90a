#include "backend/vulkan/stream.h"

#include <algorithm>

namespace sotto::vk {
namespace {

constexpr uint32_t kSetsPerPool = 256;
constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr size_t kKeptChunkBytes = size_t{8} << 20;          // larger ones are given back after use
constexpr uint64_t kPatience = 120ull * 1000 * 1000 * 1000;  // nanoseconds for one piece

// A tenth of a second or so on the slowest devices of a kind; watchdogs wait two seconds.
constexpr double kGpuPieceWork = 2e10, kSoftwarePieceWork = 4e9;

}  // namespace

Stream::Stream(Device& device, Allocator& allocator, Pipelines& pipelines)
    : device_(device),
      allocator_(allocator),
      pipelines_(pipelines),
      piece_work_(device.is_software() ? kSoftwarePieceWork : kGpuPieceWork) {
  const DeviceFunctions& call = device.call();
  try {
    if (device.abilities().timeline) {
      VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
      type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
      const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, &type, 0};
      device.check("vkCreateSemaphore", call.create_semaphore(device.handle(), &info, nullptr, &timeline_));
    }
    for (Piece& piece : pieces_) {
      VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
      pool.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
      pool.queueFamilyIndex = device.queue_family();
      device.check("vkCreateCommandPool",
                   call.create_command_pool(device.handle(), &pool, nullptr, &piece.pool));
      VkCommandBufferAllocateInfo commands{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
      commands.commandPool = piece.pool;
      commands.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
      commands.commandBufferCount = 1;
      device.check("vkAllocateCommandBuffers",
                   call.allocate_commands(device.handle(), &commands, &piece.commands));
      if (timeline_ != VK_NULL_HANDLE) continue;
      const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
      device.check("vkCreateFence", call.create_fence(device.handle(), &fence, nullptr, &piece.fence));
    }
  } catch (...) {
    for (Piece& piece : pieces_) destroy(piece);
    call.destroy_semaphore(device.handle(), timeline_, nullptr);
    throw;
  }
}

Stream::~Stream() {
  if (!device_.is_lost()) device_.call().wait_idle(device_.handle());
  for (Piece& piece : pieces_) destroy(piece);
  device_.call().destroy_semaphore(device_.handle(), timeline_, nullptr);
}

void Stream::destroy(Piece& piece) noexcept {
  const DeviceFunctions& call = device_.call();
  for (const VkDescriptorPool pool : piece.set_pools)
    call.destroy_descriptor_pool(device_.handle(), pool, nullptr);
  call.destroy_command_pool(device_.handle(), piece.pool, nullptr);
  call.destroy_fence(device_.handle(), piece.fence, nullptr);
  for (auto* chunks : {&piece.uploads, &piece.downloads})
    for (const Piece::Chunk& chunk : *chunks) allocator_.free(chunk.view);
}

bool Stream::is_idle() const noexcept {
  return std::none_of(pieces_.begin(), pieces_.end(),
                      [](const Piece& piece) { return piece.recording || piece.ticket != 0; });
}

Stream::Piece& Stream::current() {
  Piece& piece = pieces_[now_];
  if (piece.recording) return piece;
  wait(piece);
  // What a finished piece held is free again; the odd large chunk goes back.
  const DeviceFunctions& call = device_.call();
  for (auto* chunks : {&piece.uploads, &piece.downloads}) {
    for (Piece::Chunk& chunk : *chunks) {
      chunk.used = 0;
      if (chunk.view.bytes > kKeptChunkBytes) allocator_.free(chunk.view), chunk.view = {};
    }
    std::erase_if(*chunks, [](const Piece::Chunk& chunk) { return chunk.view.bytes == 0; });
  }
  for (const VkDescriptorPool pool : piece.set_pools) call.reset_descriptor_pool(device_.handle(), pool, 0);
  piece.sets_used = 0;
  piece.work = 0;
  device_.check("vkResetCommandPool", call.reset_command_pool(device_.handle(), piece.pool, 0));
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  device_.check("vkBeginCommandBuffer", call.begin_commands(piece.commands, &begin));
  piece.recording = true;
  return piece;
}

void Stream::wait(Piece& piece) {
  if (piece.ticket == 0) return;
  const DeviceFunctions& call = device_.call();
  VkResult result;
  if (timeline_ != VK_NULL_HANDLE) {
    VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
    info.semaphoreCount = 1;
    info.pSemaphores = &timeline_;
    info.pValues = &piece.ticket;
    result = call.wait_semaphores(device_.handle(), &info, kPatience);
  } else {
    result = call.wait_fences(device_.handle(), 1, &piece.fence, VK_TRUE, kPatience);
  }
  if (result == VK_TIMEOUT)
    throw Error(ErrorCode::device, "{} did not finish a piece of work within {} seconds", device_.name(),
                kPatience / 1000 / 1000 / 1000);
  piece.ticket = 0;
  device_.check("a piece of work", result);
  if (timeline_ == VK_NULL_HANDLE)
    device_.check("vkResetFences", call.reset_fences(device_.handle(), 1, &piece.fence));
}

void Stream::submit() {
  Piece& piece = pieces_[now_];
  if (!piece.recording) return;
  const DeviceFunctions& call = device_.call();
  // The program may read what was written, once it has waited.
  VkMemoryBarrier to_host{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  to_host.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  to_host.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  call.barrier(piece.commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
               VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, nullptr, 0, nullptr);
  piece.recording = false;
  device_.check("vkEndCommandBuffer", call.end_commands(piece.commands));
  const uint64_t ticket = ++tickets_;
  VkTimelineSemaphoreSubmitInfo values{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  values.signalSemaphoreValueCount = 1;
  values.pSignalSemaphoreValues = &ticket;
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.commandBufferCount = 1;
  info.pCommandBuffers = &piece.commands;
  if (timeline_ != VK_NULL_HANDLE) {
    info.pNext = &values;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &timeline_;
  }
  device_.check("vkQueueSubmit", call.submit(device_.queue(), 1, &info, piece.fence));
  piece.ticket = ticket;
  now_ = (now_ + 1) % kPieces;
}

void Stream::finish() {
  submit();
  for (size_t i = 0; i < kPieces; ++i) wait(pieces_[(now_ + i) % kPieces]);
}

VkDescriptorSet Stream::next_set(Piece& piece) {
  const DeviceFunctions& call = device_.call();
  if (piece.sets_used == piece.set_pools.size() * kSetsPerPool) {
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kSetsPerPool * Pipelines::kBuffers};
    VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
    info.maxSets = kSetsPerPool;
    info.poolSizeCount = 1;
    info.pPoolSizes = &size;
    VkDescriptorPool pool = VK_NULL_HANDLE;
    device_.check("vkCreateDescriptorPool",
                  call.create_descriptor_pool(device_.handle(), &info, nullptr, &pool));
    piece.set_pools.push_back(pool);
  }
  const VkDescriptorSetLayout layout = pipelines_.set_layout();
  VkDescriptorSetAllocateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = piece.set_pools[piece.sets_used / kSetsPerPool];
  info.descriptorSetCount = 1;
  info.pSetLayouts = &layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  device_.check("vkAllocateDescriptorSets", call.allocate_sets(device_.handle(), &info, &set));
  ++piece.sets_used;
  return set;
}

void Stream::see_all_before(Piece& piece) {
  constexpr VkPipelineStageFlags kStages =
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  VkMemoryBarrier all{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  all.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  all.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                      VK_ACCESS_TRANSFER_WRITE_BIT;
  device_.call().barrier(piece.commands, kStages, kStages, 0, 1, &all, 0, nullptr, 0, nullptr);
}

void Stream::run(const Pipeline& pipeline, std::initializer_list<View> buffers, const void* parameters,
                 size_t parameter_bytes, Groups groups, double work) {
  if (groups.x == 0 || groups.y == 0 || groups.z == 0) return;
  const DeviceFunctions& call = device_.call();
  Piece& piece = current();
  const VkDescriptorSet set = next_set(piece);
  std::array<VkDescriptorBufferInfo, Pipelines::kBuffers> infos{};
  std::array<VkWriteDescriptorSet, Pipelines::kBuffers> writes{};
  uint32_t count = 0, binding = 0;
  for (const View& view : buffers) {
    if (view.buffer != VK_NULL_HANDLE) {  // a kernel's buffer that this call does not use
      infos[count] = {view.buffer, view.offset,
                      std::min<VkDeviceSize>(view.bytes, device_.limits().maxStorageBufferRange)};
      writes[count] = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      writes[count].dstSet = set;
      writes[count].dstBinding = binding;
      writes[count].descriptorCount = 1;
      writes[count].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      writes[count].pBufferInfo = &infos[count];
      ++count;
    }
    ++binding;
  }
  call.update_sets(device_.handle(), count, writes.data(), 0, nullptr);
  see_all_before(piece);
  call.bind_pipeline(piece.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.handle);
  call.bind_sets(piece.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipelines_.layout(), 0, 1, &set, 0, nullptr);
  call.push_constants(piece.commands, pipelines_.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                      static_cast<uint32_t>(parameter_bytes), parameters);
  call.dispatch(piece.commands, groups.x, groups.y, groups.z);
  piece.work += work;
}

void Stream::pace() {
  if (pieces_[now_].recording && pieces_[now_].work > piece_work_) submit();
}

void Stream::copy(const View& from, const View& to, const std::vector<VkBufferCopy>& regions) {
  Piece& piece = current();
  see_all_before(piece);
  std::vector<VkBufferCopy> placed = regions;
  for (VkBufferCopy& region : placed) region.srcOffset += from.offset, region.dstOffset += to.offset;
  if (!placed.empty())
    device_.call().copy_buffer(piece.commands, from.buffer, to.buffer, static_cast<uint32_t>(placed.size()),
                               placed.data());
}

View Stream::take(std::vector<Piece::Chunk>& chunks, size_t bytes, Place place) {
  bytes = (std::max<size_t>(bytes, 1) + Allocator::kAlignment - 1) / Allocator::kAlignment *
          Allocator::kAlignment;
  auto chunk = std::find_if(chunks.begin(), chunks.end(),
                            [&](const Piece::Chunk& each) { return each.view.bytes - each.used >= bytes; });
  if (chunk == chunks.end()) {
    chunks.push_back({allocator_.allocate(std::max(bytes, kChunkBytes), place), 0});
    chunk = std::prev(chunks.end());
  }
  View view{chunk->view.buffer, chunk->view.offset + chunk->used, bytes,
            static_cast<std::byte*>(chunk->view.mapped) + chunk->used};
  chunk->used += bytes;
  return view;
}

View Stream::upload(size_t bytes) {
  return take(current().uploads, bytes, Place::upload);
}

View Stream::download(size_t bytes) {
  return take(current().downloads, bytes, Place::download);
}

}  // namespace sotto::vk
