//===- KernelWrapper.cpp - the entry of a kernel as C++ text --------------===//
//
// What stands behind the assembler's text in kernels/<core>/<kernel>.cpp: kernel_entry unpacks the
// runtime's arguments as the native entry does (KernelEntry.cpp). ChipTensor, get_block_idx and the
// like are those of simpler's kit headers.
//
//===----------------------------------------------------------------------===//
#include "PtoEmitter.h"
#include "ptoas/Target/Cpp/Cpp.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace pypto {

std::string kernelWrapper(func::FuncOp kernel, const KernelSignature &signature) {
  std::string text;
  llvm::raw_string_ostream out(text);
  SmallVector<std::string> operands;
  TypeRange types = kernel.getArgumentTypes();
  out << "extern \"C\" __aicore__ void kernel_entry(__gm__ int64_t *args) {\n";
  unsigned tensors = signature.tensors.size();
  for (unsigned i = 0; i < tensors; ++i) {
    std::string element = ptoas::cpp::spellElement(cast<pto::PtrType>(types[i]).getElementType());
    if (element.empty())
      return "";
    out << "  __gm__ ChipTensor *t" << i << " = reinterpret_cast<__gm__ ChipTensor *>(args[" << i
        << "]);\n  __gm__ " << element << " *p" << i << " = reinterpret_cast<__gm__ " << element
        << " *>(t" << i << "->buffer.addr) + t" << i << "->start_offset;\n";
    operands.push_back("p" + std::to_string(i));
  }
  for (unsigned i = 0; i < signature.scalars.size(); ++i) {
    std::string number = std::to_string(tensors + i);
    Type type = types[tensors + i];
    std::string element = ptoas::cpp::spellElement(type);
    if (element.empty())
      return "";
    // Half-precision scalars travel as 32-bit floats.
    bool narrow = type.isF16() || type.isBF16();
    out << "  union {\n    uint64_t word;\n    " << (narrow ? "float" : element.c_str())
        << " value;\n  } s" << number << ";\n  s" << number << ".word = static_cast<uint64_t>(args["
        << number << "]);\n";
    operands.push_back(narrow ? "static_cast<" + element + ">(s" + number + ".value)"
                              : "s" + number + ".value");
  }
  for (const KernelSignature::Hidden &hidden : signature.hidden) {
    std::string at = "t" + std::to_string(hidden.tensor);
    std::string axis = "[" + std::to_string(hidden.axis) + "]";
    switch (hidden.kind) {
    case KernelSignature::Hidden::Dim:
      operands.push_back("static_cast<int64_t>(" + at + "->shapes" + axis + ")");
      break;
    case KernelSignature::Hidden::Stride:
      operands.push_back("static_cast<int64_t>(" + at + "->strides" + axis + ")");
      break;
    case KernelSignature::Hidden::BlockIdx:
      operands.push_back("get_block_idx(args)");
      break;
    case KernelSignature::Hidden::BlockNum:
      operands.push_back("get_block_num(args)");
      break;
    case KernelSignature::Hidden::SubblockIdx:
      operands.push_back("get_sub_block_id(args)");
      break;
    }
  }
  out << "  " << kernel.getName() << "(";
  llvm::interleaveComma(operands, out);
  out << ");\n}\n";
  return text;
}

} // namespace pypto
