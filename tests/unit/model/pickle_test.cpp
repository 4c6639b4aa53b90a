#include "model/pickle.h"

#include <gmock/gmock.h>

#include "model/byte_reader.h"
#include "support/checkpoint_tools.h"
#include "support/openai_writer.h"

namespace sotto::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::string_literals;

// The document and the bytes that its texts point into.
struct Parsed {
  std::string bytes;
  PickleDocument document;

  template <class T>
  const T& root() const {
    return std::get<T>(document.values[document.root]);
  }
};

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::unique_ptr<Parsed> parse(const std::string& instructions, const std::string& protocol = "\x80\x02") {
  auto parsed = std::make_unique<Parsed>();
  parsed->bytes = protocol + instructions;
  parsed->document = read_pickle(as_bytes(parsed->bytes), "data.pkl");
  return parsed;
}

std::string parse_error(const std::string& instructions) {
  return error_of([&] { parse(instructions); });
}

TEST(Pickle, ReadsPlainValues) {
  EXPECT_EQ(parse("K\x07.")->root<int64_t>(), 7);
  EXPECT_EQ(parse("M\x01\x02.")->root<int64_t>(), 0x201);
  EXPECT_EQ(parse("J\xfe\xff\xff\xff.")->root<int64_t>(), -2);
  EXPECT_EQ(parse("\x8a\x01\xff.")->root<int64_t>(), -1);
  EXPECT_EQ(parse("\x8a\x00."s)->root<int64_t>(), 0);
  EXPECT_EQ(parse("\x8a\x05\x00\x00\x00\x00\x01."s)->root<int64_t>(), int64_t{1} << 32);
  EXPECT_EQ(parse("G\x3f\xf8\x00\x00\x00\x00\x00\x00."s)->root<double>(), 1.5);
  EXPECT_EQ(parse("X\x02\x00\x00\x00hi."s)->root<std::string_view>(), "hi");
  EXPECT_EQ(parse("\x88.")->root<bool>(), true);
  EXPECT_EQ(parse("\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x02hi."s, "\x80\x04")->root<std::string_view>(),
            "hi");
}

TEST(Pickle, ReadsContainersAndSharedValues) {
  const auto parsed = parse(
      "}q\x00(X\x01\x00\x00\x00"s
      "aK\x01X\x01\x00\x00\x00"s
      "b](K\x02h\x00"s
      "eu."s);
  const auto& dict = parsed->root<PickleDict>();
  ASSERT_EQ(dict.items.size(), 2u);
  EXPECT_EQ(std::get<int64_t>(*parsed->document.find(dict, "a")), 1);
  const auto& list = std::get<PickleList>(*parsed->document.find(dict, "b"));
  ASSERT_EQ(list.items.size(), 2u);
  EXPECT_EQ(list.items[1], parsed->document.root);  // a cycle, and no harm
  EXPECT_EQ(parsed->document.find(dict, "c"), nullptr);
}

TEST(Pickle, ReadsTensors) {
  const PickledTensor tensor = contiguous_tensor("t", DType::f16, {2, 3}, "17");
  const auto bytes = write_openai_pickle(small_config(), {tensor}, "").bytes;
  const PickleDocument document = read_pickle(bytes, "data.pkl");
  const auto& root = std::get<PickleDict>(document.values[document.root]);
  const auto& state = std::get<PickleDict>(*document.find(root, "model_state_dict"));
  const auto& read = std::get<PickleTensor>(*document.find(state, "t"));
  EXPECT_EQ(read.shape, (Shape{2, 3}));
  EXPECT_EQ(read.strides, (Shape{3, 1}));
  EXPECT_EQ(read.storage.key, "17");
  EXPECT_EQ(read.storage.elements, 6);
  EXPECT_EQ(read.storage.dtype, DType::f16);
}

TEST(Pickle, ForeignCallablesAreNamedAndNotCalled) {
  for (const auto& [module, name] : {std::pair{"os", "system"},
                                     {"posix", "system"},
                                     {"builtins", "eval"},
                                     {"builtins", "exec"},
                                     {"torch", "load"},
                                     {"torch.hub", "load"},
                                     {"subprocess", "Popen"},
                                     {"torch._utils", "_rebuild_tensor"},
                                     {"collections", "Counter"},
                                     {"torch", "LongStorage"}}) {
    const std::string line = fmt::format("c{}\n{}\nX\x02", module, name);
    const std::string call = line + "\x00\x00\x00ls\x85R."s;
    EXPECT_THAT(parse_error(call), AllOf(HasSubstr(fmt::format("'{}.{}'", module, name)),
                                         HasSubstr("at offset"), HasSubstr("nothing was executed")));
    const std::string modern =
        fmt::format("\x8c{:c}{}\x8c{:c}{}\x93.", static_cast<char>(std::string(module).size()), module,
                    static_cast<char>(std::string(name).size()), name);
    EXPECT_THAT(parse_error(modern), HasSubstr(fmt::format("'{}.{}'", module, name)));
  }
}

TEST(Pickle, OtherWaysToCallAreUnknownInstructions) {
  // INST, OBJ, NEWOBJ, NEWOBJ_EX, EXT1, PERSID, protocol-0 and -1 forms, out-of-band buffers.
  for (const char* instruction :
       {"i", "o", "\x81", "\x92", "\x82", "P", "I", "S", "\x97", "\x96", "d", "l", "0", "2"})
    EXPECT_THAT(parse_error("("s + instruction + "os\nsystem\n."), HasSubstr("pickle instruction"))
        << instruction;
}

TEST(Pickle, DamagedStructureIsAnError) {
  for (const std::string& bad : {"."s,
                                 "t."s,
                                 "(."s,
                                 "e."s,
                                 "]K\x01u."s,
                                 "}K\x01K\x02"s,
                                 "K\x01(K\x02s."s,
                                 "h\x05."s,
                                 "j\x05\x00\x00\x00."s,
                                 "R."s,
                                 "K\x01K\x02R."s,
                                 "K\x01)R."s,
                                 "K\x01Q."s,
                                 ")Q."s,
                                 "K\x01K\x02\x62."s,
                                 "](b."s,
                                 "(q\x00."s,
                                 "\x8a\x09 123456789."s,
                                 "X\xff\xff\xff\xff."s,
                                 "\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s,
                                 "cos"s,
                                 "c\n"s,
                                 "K\x01K\x02\x93."s,
                                 "}(K\x01u."s,
                                 "ccollections\nOrderedDict\nK\x01\x85R."s,
                                 "ctorch._utils\n_rebuild_tensor_v2\n)R."s,
                                 "ctorch._utils\n_rebuild_parameter\n)R."s,
                                 "ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x01))tR."s})
    EXPECT_THAT(parse_error(bad), ::testing::StartsWith("data.pkl: at offset ")) << printable(bad);
  EXPECT_THAT(parse_error("c" + std::string(10000, 'a')), HasSubstr("does not end"));
  EXPECT_THAT(parse_error(std::string(400'000, 'N')), HasSubstr("values"));
}

TEST(Pickle, OtherProtocolsAreRefused) {
  for (const std::string& start : {"\x80\x01."s, "\x80\x06."s, "N."s, ""s, "\x80"s})
    EXPECT_THAT(error_of([&] { read_pickle(as_bytes(start), "data.pkl"); }),
                ::testing::StartsWith("data.pkl: "));
}

TEST(Pickle, CutAnywhereIsAnError) {
  const auto bytes =
      write_openai_pickle(small_config(), {contiguous_tensor("t", DType::f32, {4}, "0")}, "{}").bytes;
  for (size_t length = 0; length < bytes.size(); ++length)
    ASSERT_NE(error_of([&] { read_pickle(std::span(bytes).first(length), "data.pkl"); }), "");
}

}  // namespace
}  // namespace sotto::test
