//===- Importer.cpp - from Python's syntax tree to the pypto dialect ------===//
#include "pypto/Importer/Importer.h"
#include "Extents.h"
#include "Walker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using pypto::ast::Node;

namespace pypto {
namespace importer {
namespace {

std::string typeOption(const Function &f) {
  auto it = f.options.find("type");
  return it == f.options.end() ? "Opaque" : it->second.text.substr(it->second.text.rfind('.') + 1);
}

bool isKernelType(const Function &f) {
  if (f.form == Function::Form::JitIncore)
    return true;
  std::string type = typeOption(f);
  return f.form == Function::Form::Plain && (type == "InCore" || type == "AIC" || type == "AIV");
}

/// Names of `self.f` that the functions of a class call.
void calledMethods(const Node &node, std::set<std::string> &names) {
  if (node.kind == "Attribute" && node.get("value")->kind == "Name" &&
      node.get("value")->str("id") == "self")
    names.insert(node.str("attr"));
  for (const auto &[field, child] : node.child)
    if (child)
      calledMethods(*child, names);
  for (const auto &[field, list] : node.children)
    for (const auto &item : list)
      if (item)
        calledMethods(*item, names);
}

class ProgramImporter {
public:
  ProgramImporter(ModuleState &m) : m(m) {}

  void run(const std::vector<ArgSpec> &args) {
    if (m.program.functions.empty()) {
      Diagnostic d;
      d.kind = ErrorKind::Syntax;
      d.message = "program '" + m.program.name + "' has no function";
      d.help = "decorate its methods with @pl.function";
      m.diagnostics.push_back(d);
      return;
    }
    size_t mark = m.diagnostics.size();
    for (const auto &f : m.program.functions)
      checkExternal(*f);
    if (m.diagnostics.size() != mark)
      return;
    if (!m.program.isClass) {
      const Function &f = *m.program.functions.front();
      import(f, args, !isKernelType(f));
      return;
    }
    std::set<std::string> called;
    for (const auto &f : m.program.functions)
      calledMethods(*f->def, called);
    bool anyOrchestration = llvm::any_of(
        m.program.functions, [](const auto &f) { return typeOption(*f) == "Orchestration"; });
    for (const auto &f : m.program.functions) {
      if (!f->method && f->form == Function::Form::Plain && f->options.count("role"))
        continue;
      if (isKernelType(*f)) {
        // A kernel that is called comes in with the types of the call.
        if (!called.count(f->name))
          import(*f, {}, false);
        continue;
      }
      std::string type = typeOption(*f);
      bool entry = !called.count(f->name) &&
                   (type == "Orchestration" || (type == "Opaque" && !anyOrchestration));
      if (entry)
        import(*f, args, true);
    }
  }

private:
  void report(const Node &at, ErrorKind kind, std::string message, std::string help) {
    Diagnostic d;
    d.kind = kind;
    d.message = std::move(message);
    d.span = at.span;
    d.help = std::move(help);
    m.diagnostics.push_back(std::move(d));
  }

  /// A function whose code is C++: of a core, with nothing to compile.
  void checkExternal(const Function &f) {
    if (!f.options.count("external_source"))
      return;
    std::string type = typeOption(f);
    if (type != "AIC" && type != "AIV")
      report(*f.def, ErrorKind::Type,
             "external_source is for functions of type AIC or AIV, '" + f.name + "' is " + type,
             "give type=pl.FunctionType.AIV or AIC");
    const auto &body = f.def->list("body");
    const Node *only =
        body.size() == 1 && body[0]->kind == "Expr" ? body[0]->get("value") : nullptr;
    if (!only || only->kind != "Constant" || only->constantType != "ellipsis")
      report(*body.front(), ErrorKind::Syntax,
             "'" + f.name + "' has external_source: its code is in C++", "leave ... as its body");
  }

  /// `x.bind_dynamic(axis, D)` statements name extents of parameters.
  void bindDynamic(const Function &f, std::vector<ParamSpec> &params) {
    for (const auto &s : f.def->list("body")) {
      const Node *call = s->kind == "Expr" ? s->get("value") : nullptr;
      if (!call || call->kind != "Call" || call->get("func")->kind != "Attribute" ||
          call->get("func")->str("attr") != "bind_dynamic")
        continue;
      std::string name = dottedName(*call->get("func")->get("value"));
      auto it = llvm::find_if(params, [&](const ParamSpec &p) { return p.name == name; });
      if (it == params.end() || it->kind != ParamSpec::Tensor) {
        report(*call, ErrorKind::Type, "bind_dynamic is for tensor parameters",
               "write x.bind_dynamic(axis, D) for a parameter x");
        continue;
      }
      const auto &args = call->list("args");
      std::string why;
      PyValue axis = args.size() == 2 ? f.env->evaluate(*args[0], why) : PyValue();
      PyValue symbol = args.size() == 2 ? f.env->evaluate(*args[1], why) : PyValue();
      if (axis.kind != PyValue::Int || symbol.kind != PyValue::DynVar) {
        report(*call, ErrorKind::Type, "bind_dynamic takes a constant axis and a pl.dynamic symbol",
               "");
        continue;
      }
      if (it->shape && (axis.integer < 0 || axis.integer >= int64_t(it->shape->size()))) {
        report(*call, ErrorKind::Type,
               "bind_dynamic: '" + name + "' has no axis " + std::to_string(axis.integer), "");
        continue;
      }
      if (it->shape)
        (*it->shape)[axis.integer] = {std::nullopt, symbol.text};
      else
        pending.emplace_back(name, std::pair<int, std::string>(axis.integer, symbol.text));
    }
  }

  void import(const Function &f, const std::vector<ArgSpec> &args, bool entry) {
    size_t mark = m.diagnostics.size();
    pending.clear();
    AnnotationReader reader(f.env.get(),
                            [&](const Node &at, ErrorKind kind, std::string message,
                                std::string help) { report(at, kind, message, help); });
    const Node &signature = *f.def->get("args");
    std::vector<ParamSpec> params;
    bool skipSelf = f.method;
    for (const char *field : {"posonlyargs", "args", "kwonlyargs"})
      for (const auto &p : signature.list(field)) {
        if (skipSelf) {
          skipSelf = false;
          if (p->str("arg") != "self")
            report(*p, ErrorKind::Syntax, "the first parameter of '" + f.name + "' must be self",
                   "write def " + f.name + "(self, …)");
          continue;
        }
        ParamSpec spec;
        spec.name = p->str("arg");
        spec.node = p.get();
        reader.read(p->get("annotation"), spec);
        if (spec.kind == ParamSpec::Scalar) {
          for (const ParamSpec &earlier : params)
            if (earlier.shape && llvm::any_of(*earlier.shape, [&](const ExtentSpec &e) {
                  return e.name == spec.name;
                }))
              report(*p, ErrorKind::Type,
                     "scalar parameter '" + spec.name + "' has the name of a dynamic extent of '" +
                         earlier.name + "'",
                     "put the scalar before the tensor, or rename one");
          reader.scalarNames.push_back(spec.name);
        }
        params.push_back(std::move(spec));
      }
    if (signature.get("vararg") || signature.get("kwarg"))
      report(*f.def, ErrorKind::Unsupported, "* and ** parameters are not supported", "");
    bindDynamic(f, params);
    if (!args.empty() && args.size() != params.size())
      report(*f.def, ErrorKind::Type,
             "'" + f.name + "' takes " + std::to_string(params.size()) + " arguments, " +
                 std::to_string(args.size()) + " were given",
             "");
    for (size_t i = 0; i < params.size() && m.diagnostics.size() == mark; ++i)
      specialise(f, params[i], i < args.size() ? args[i] : ArgSpec());
    if (m.diagnostics.size() != mark)
      return;
    std::string type = f.form == Function::Form::Jit || entry ? "Orchestration" : "InCore";
    if (f.form == Function::Form::Plain && typeOption(f) != "Opaque" && !entry)
      type = typeOption(f);
    std::string key = "entry " + f.name;
    Walker walker(m);
    walker.build(f, std::move(params), type, entry, m.kernels[key]);
  }

  /// Joins the annotation and the argument.
  void specialise(const Function &f, ParamSpec &p, const ArgSpec &arg) {
    const Node &at = *p.node;
    std::string name = "parameter '" + p.name + "'";
    if (arg.kind == ArgSpec::Scalar) {
      if (p.kind == ParamSpec::Tensor) {
        report(at, ErrorKind::Type, name + " is a tensor, the argument is a number", "");
        return;
      }
      p.kind = ParamSpec::Scalar;
      p.baked = arg.value;
      return;
    }
    if (arg.kind == ArgSpec::RuntimeScalar) {
      if (p.kind == ParamSpec::Tensor) {
        report(at, ErrorKind::Type, name + " is a tensor, the argument is a number", "");
        return;
      }
      p.kind = ParamSpec::Scalar;
      if (!p.dtype)
        p.dtype = dtypeByName(arg.dtype);
      if (!p.dtype)
        report(at, ErrorKind::Type, name + " has no element type",
               "annotate it: pl.Scalar[pl.INT32]");
      return;
    }
    if (arg.kind == ArgSpec::Tensor) {
      if (p.kind == ParamSpec::Bare)
        p.kind = ParamSpec::Tensor;
      if (p.kind != ParamSpec::Tensor) {
        report(at, ErrorKind::Type, name + " is no tensor, the argument is one", "");
        return;
      }
      auto given = dtypeByName(arg.dtype);
      if (!given) {
        report(at, ErrorKind::Type,
               "the argument for " + name + " has element type " + arg.dtype +
                   ", which is not supported",
               "");
        return;
      }
      auto shapeText = [](const std::vector<int64_t> &shape) {
        std::string text;
        for (int64_t e : shape)
          text += (text.empty() ? "" : ", ") + (e < 0 ? std::string("?") : std::to_string(e));
        return "[" + text + "]";
      };
      if (p.dtype && *p.dtype != *given) {
        report(at, ErrorKind::Type,
               name + " is annotated as " + nameOf(*p.dtype).str() + ", the argument has " +
                   arg.dtype + " elements",
               "convert the argument, or change the annotation");
        return;
      }
      p.dtype = given;
      if (p.shape && p.shape->size() != arg.shape.size()) {
        report(at, ErrorKind::Type,
               name + " is annotated with rank " + std::to_string(p.shape->size()) +
                   ", the argument has shape " + shapeText(arg.shape),
               "");
        return;
      }
      std::vector<ExtentSpec> shape;
      for (size_t axis = 0; axis < arg.shape.size(); ++axis) {
        ExtentSpec e{arg.shape[axis] < 0 ? std::nullopt : std::optional<int64_t>(arg.shape[axis]),
                     ""};
        if (p.shape) {
          const ExtentSpec &annotated = (*p.shape)[axis];
          if (annotated.size && arg.shape[axis] >= 0 && *annotated.size != arg.shape[axis]) {
            report(at, ErrorKind::Type,
                   name + " is annotated with extent " + std::to_string(*annotated.size) +
                       " in axis " + std::to_string(axis) + ", the argument has shape " +
                       shapeText(arg.shape),
                   "change the annotation, or make the extent dynamic with pl.dynamic");
            return;
          }
          if (!annotated.size)
            e = annotated;
        }
        for (auto &[tensor, symbol] : pending)
          if (tensor == p.name && symbol.first == int(axis))
            e = {std::nullopt, symbol.second};
        shape.push_back(e);
      }
      p.shape = shape;
      p.strides = arg.strides;
      if (arg.shape.empty()) {
        report(at, ErrorKind::Type, "the argument for " + name + " has no axes",
               "pass a tensor of shape [1]");
        return;
      }
      if (arg.shape.size() > 5) {
        report(at, ErrorKind::Type,
               "the argument for " + name + " has rank " + std::to_string(arg.shape.size()) +
                   ", at most 5 are supported",
               "");
        return;
      }
      std::vector<std::optional<int64_t>> extents;
      for (int64_t extent : arg.shape)
        extents.push_back(extent < 0 ? std::nullopt : std::optional(extent));
      if (auto fault = sizeFault(extents))
        report(at, ErrorKind::Type, "the argument for " + name + ": " + fault->message, "");
      return;
    }
    // As annotated.
    if (p.kind == ParamSpec::Bare)
      report(at, ErrorKind::Type, name + " of '" + f.name + "' has no annotation",
             "write " + p.name + ": pl.Tensor[[16, 64], pl.FP32]");
    else if (p.kind == ParamSpec::Tensor && (!p.shape || !p.dtype))
      report(at, ErrorKind::Type,
             name + " of '" + f.name + "' needs a shape and an element type here",
             "write " + p.name + ": pl.Tensor[[16, 64], pl.FP32]");
    else if (p.kind == ParamSpec::Tuple)
      report(at, ErrorKind::Type, name + ": a parameter cannot be a tuple", "");
  }

  ModuleState &m;
  std::vector<std::pair<std::string, std::pair<int, std::string>>>
      pending; // extents of bare parameters
};

} // namespace
} // namespace importer

void loadImporterDialects(MLIRContext &context) {
  context.loadDialect<PyPTODialect, arith::ArithDialect, func::FuncDialect, scf::SCFDialect>();
}

OwningOpRef<ModuleOp> importProgram(MLIRContext &context, const Program &program,
                                    const std::vector<ArgSpec> &args, const CompileOptions &options,
                                    std::vector<Diagnostic> &diagnostics,
                                    std::vector<int> *bakeScalars) {
  loadImporterDialects(context);
  std::vector<int> bake;
  importer::ModuleState state{
      &context, program, options, diagnostics, bakeScalars ? *bakeScalars : bake,
      {},       {},      {},      {},          {}};
  state.module = ModuleOp::create(UnknownLoc::get(&context), program.name);
  size_t mark = diagnostics.size();
  importer::ProgramImporter(state).run(args);
  auto isError = [](const Diagnostic &d) { return d.kind != ErrorKind::Warning; };
  auto own = llvm::MutableArrayRef(diagnostics).drop_front(mark);
  // One message per place: a helper that is expanded twice fails twice in the same way.
  std::vector<Diagnostic> unique;
  for (Diagnostic &d : own)
    if (llvm::none_of(unique, [&](const Diagnostic &u) {
          return u.message == d.message && u.span.line == d.span.line &&
                 u.span.column == d.span.column && u.span.file == d.span.file;
        }))
      unique.push_back(std::move(d));
  diagnostics.resize(mark);
  diagnostics.insert(diagnostics.end(), unique.begin(), unique.end());
  bool failed = llvm::any_of(unique, isError);
  if (!failed) {
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
      llvm::raw_string_ostream(text) << d << "\n";
      return success();
    });
    if (mlir::failed(verify(*state.module))) {
      Diagnostic d;
      d.kind = ErrorKind::Internal;
      d.message = "the importer made an invalid module: " + text;
      diagnostics.push_back(d);
      failed = true;
    }
  }
  if (failed)
    return nullptr;
  return std::move(state.module);
}

} // namespace pypto
