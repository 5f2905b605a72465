//===- Npy.cpp - NumPy array files ----------------------------------------===//
//
// Format 1.0 to 3.0: "\x93NUMPY", two version bytes, the header's length (2 or
// 4 bytes, little endian), a Python dictionary with descr, fortran_order and
// shape, then the elements.
//
//===----------------------------------------------------------------------===//
#include "Npy.h"
#include "ptoas/Driver/OutputFile.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

static Error wrong(StringRef path, const Twine &what) {
  return createStringError(inconvertibleErrorCode(), path + ": " + what);
}

// The text behind `'key':` in the dictionary.
static StringRef valueOf(StringRef dictionary, StringRef key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = (Twine(quote) + key + Twine(quote)).str();
    size_t at = dictionary.find(quoted);
    if (at != StringRef::npos)
      return dictionary.substr(at + quoted.size()).ltrim(" :");
  }
  return {};
}

int64_t ptoas::NpyArray::elementBytes() const {
  int64_t bytes = 0;
  StringRef text(descr);
  if (text.size() < 3 || text.drop_front(2).getAsInteger(10, bytes))
    return 0;
  return bytes <= 16 ? bytes : 0; // NumPy has no wider numbers
}

Expected<ptoas::NpyArray> ptoas::readNpy(StringRef path) {
  // A pipe cannot be read for its size, nor written back to.
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return wrong(path, code.message());
  if (!sys::fs::is_regular_file(status))
    return wrong(path, "is no regular file");
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(path, /*IsText=*/false,
                            /*RequiresNullTerminator=*/false);
  if (!file)
    return wrong(path, file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  if (bytes.size() < 12 || !bytes.starts_with(StringRef("\x93NUMPY", 6)))
    return wrong(path, "is not a .npy file");
  unsigned version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    return wrong(path, "has version " + Twine(version) + " of the format, 1 to 3 are known");
  size_t start = version >= 2 ? 12 : 10;
  size_t length = version >= 2 ? support::endian::read32le(bytes.data() + 8)
                               : support::endian::read16le(bytes.data() + 8);
  if (bytes.size() < start + length)
    return wrong(path, "the header is cut off");
  StringRef dictionary = bytes.substr(start, length);

  NpyArray array;
  array.header = bytes.take_front(start + length).str();
  StringRef descr = valueOf(dictionary, "descr");
  if (descr.size() < 2 || (descr[0] != '\'' && descr[0] != '"'))
    return wrong(path, "has no simple element type");
  array.descr = descr.drop_front().take_until([&](char c) { return c == descr[0]; }).str();
  if (array.elementBytes() <= 0 || array.descr[0] == '>')
    return wrong(path, "element type '" + array.descr + "' is not supported");
  if (!valueOf(dictionary, "fortran_order").starts_with("False"))
    return wrong(path, "is in Fortran order; save numpy.ascontiguousarray(x)");
  StringRef shape = valueOf(dictionary, "shape");
  if (!shape.consume_front("("))
    return wrong(path, "has no shape");
  int64_t count = 1;
  SmallVector<StringRef> dims;
  shape.take_until([](char c) { return c == ')'; }).split(dims, ',', -1, /*KeepEmpty=*/false);
  for (StringRef dim : dims) {
    int64_t extent = 0;
    if (dim.trim().empty())
      continue;
    if (dim.trim().getAsInteger(10, extent) || extent < 0)
      return wrong(path, "has the extent '" + dim.trim() + "'");
    if (extent && count > INT64_MAX / 16 / extent)
      return wrong(path, "is too large");
    array.shape.push_back(extent);
    count *= extent;
  }
  StringRef data = bytes.substr(start + length);
  if (int64_t(data.size()) < count * array.elementBytes())
    return wrong(path, "holds fewer elements than its shape says");
  data = data.take_front(count * array.elementBytes());
  array.data.assign(data.begin(), data.end());
  return array;
}

Error ptoas::writeNpy(StringRef path, const NpyArray &array) {
  std::string problem = writeOutput(path, [&](raw_ostream &os) {
    os << array.header;
    os.write(array.data.data(), array.data.size());
  });
  return problem.empty() ? Error::success() : createStringError(inconvertibleErrorCode(), problem);
}
