// SPDX-License-Identifier: Apache-2.0
#include "wire/message.h"

#include <cstring>
#include <stdexcept>

namespace rookery::wire {

std::optional<Message> parse(std::span<const std::byte> packet) noexcept {
  Message message;
  if (packet.size() < sizeof(Header)) return std::nullopt;
  std::memcpy(&message.header, packet.data(), sizeof(Header));
  const Header& header = message.header;
  if (header.magic != kMagic || header.reserved != 0) return std::nullopt;
  if (header.cpu != 0 && header.type != Type::kRunCode) return std::nullopt;
  if (header.length > kMaxPayload || header.length != packet.size() - sizeof(Header)) return std::nullopt;
  message.payload = {reinterpret_cast<const char*>(packet.data()) + sizeof(Header), header.length};
  return message;
}

Writer::Writer(Type type, std::uint64_t nonce, std::uint16_t cpu) {
  Header header;
  header.type = type;
  header.cpu = cpu;
  header.nonce = nonce;
  bytes_.resize(sizeof header);
  std::memcpy(bytes_.data(), &header, sizeof header);
}

Writer& Writer::u32(std::uint32_t value) {
  return raw({reinterpret_cast<const char*>(&value), sizeof value});
}

Writer& Writer::i32(std::int32_t value) {
  return raw({reinterpret_cast<const char*>(&value), sizeof value});
}

Writer& Writer::u64(std::uint64_t value) {
  return raw({reinterpret_cast<const char*>(&value), sizeof value});
}

Writer& Writer::text(std::string_view value) {
  if (value.size() > kMaxPayload) throw std::length_error("wire: text too long");
  return u32(static_cast<std::uint32_t>(value.size())).raw(value);
}

Writer& Writer::raw(std::string_view value) {
  const auto* data = reinterpret_cast<const std::byte*>(value.data());
  bytes_.insert(bytes_.end(), data, data + value.size());
  return *this;
}

std::span<const std::byte> Writer::packet() {
  const std::size_t length = bytes_.size() - sizeof(Header);
  if (length > kMaxPayload) throw std::length_error("wire: message too long");
  const auto field = static_cast<std::uint32_t>(length);
  std::memcpy(bytes_.data() + offsetof(Header, length), &field, sizeof field);
  return bytes_;
}

bool Reader::take(void* to, std::size_t size) noexcept {
  if (!ok_ || rest_.size() < size) {
    ok_ = false;
    return false;
  }
  std::memcpy(to, rest_.data(), size);
  rest_.remove_prefix(size);
  return true;
}

std::uint32_t Reader::u32() noexcept {
  std::uint32_t value = 0;
  return take(&value, sizeof value) ? value : 0;
}

std::int32_t Reader::i32() noexcept {
  std::int32_t value = 0;
  return take(&value, sizeof value) ? value : 0;
}

std::uint64_t Reader::u64() noexcept {
  std::uint64_t value = 0;
  return take(&value, sizeof value) ? value : 0;
}

std::string_view Reader::text() noexcept {
  const std::uint32_t size = u32();
  if (!ok_ || rest_.size() < size) {
    ok_ = false;
    return {};
  }
  const std::string_view value = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return value;
}

}  // namespace rookery::wire
