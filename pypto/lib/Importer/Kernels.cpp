//===- Kernels.cpp - functions of the module and their launches -----------===//
#include "Walker.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

static const char *directionName(ParamInfo::Direction d) {
  return d == ParamInfo::In ? "in" : d == ParamInfo::Out ? "out" : "inout";
}

bool Walker::build(const Function &function, std::vector<ParamSpec> params,
                   llvm::StringRef functionType, bool isEntry, KernelInfo &info) {
  const Node &def = *function.def;
  top = &function;
  size_t errorMark = m.diagnostics.size();
  Location loc = locationOf(def);
  std::string symbol = function.name;
  for (int n = 1; !m.symbols.insert(symbol).second; ++n)
    symbol = function.name + "_" + std::to_string(n);
  info.name = symbol;
  info.params = params;

  Frame first;
  frame = &first;
  first.function = &function;
  if (auto it = function.options.find("strict_ssa"); it != function.options.end())
    first.strictSsa = it->second.boolean;
  Assigned assigned = namesAssigned(def.list("body"));
  first.locals = assigned.strong;
  for (const ParamSpec &p : params)
    first.locals.insert(p.name);
  first.liveness = std::make_unique<Liveness>(def, Names());
  context.inKernel = functionType != "Orchestration";

  // The signature.
  llvm::SmallVector<Type> types;
  llvm::SmallVector<int> argumentOf;
  std::map<std::string, Affine> extents; // equal names are equal at run time
  std::vector<Val> values;
  for (size_t i = 0; i < params.size(); ++i) {
    const ParamSpec &p = params[i];
    parameterIndex[p.name] = i;
    Val v;
    if (p.baked) {
      v = fromPython(*p.baked);
      if (p.dtype && v.isScalar())
        v = castScalar(v, *p.dtype, loc);
    } else if (p.kind == ParamSpec::Tensor) {
      std::vector<Affine> shape;
      for (size_t axis = 0; axis < p.shape->size(); ++axis) {
        const ExtentSpec &e = (*p.shape)[axis];
        if (e.size) {
          shape.push_back(Affine(*e.size));
          continue;
        }
        Affine symbolOf = symbols.fresh({0, std::nullopt});
        if (!e.name.empty()) {
          symbolOf = extents.try_emplace(e.name, symbolOf).first->second;
          first.dynamicDims.try_emplace(e.name, p.name, axis);
        }
        shape.push_back(symbolOf);
      }
      v = shaped(Val::Tensor, *p.dtype, shape);
      v.layout = p.layout;
      v.strides = p.strides;
      v.gm = true;
      v.root = newRoot();
      rootParameter[v.root] = i;
      llvm::SmallVector<int64_t> sizes;
      for (const Affine &a : shape)
        sizes.push_back(a.isConstant() ? a.constant : ShapedType::kDynamic);
      types.push_back(TensorType::get(sizes, elementType(*p.dtype), p.strides, p.layout,
                                      llvm::ArrayRef<int64_t>()));
      argumentOf.push_back(i);
    } else if (p.kind == ParamSpec::Scalar) {
      if (p.dtype == DType::TaskId) {
        v.kind = Val::TaskId;
      } else {
        v = scalar(Value(), *p.dtype,
                   isInteger(*p.dtype) ? symbols.fresh({}, isEntry ? int(i) : -1) : Affine());
      }
      types.push_back(elementType(*p.dtype));
      argumentOf.push_back(i);
    } else {
      unsupported(*p.node,
                  "parameter '" + p.name + "' has a type that a function of this kind cannot take",
                  "pass it to a @pl.jit.inline function");
    }
    values.push_back(v);
  }
  if (m.diagnostics.size() != errorMark)
    return false;

  OpBuilder moduleBuilder(m.context);
  moduleBuilder.setInsertionPointToEnd(m.module->getBody());
  auto func =
      func::FuncOp::create(moduleBuilder, loc, symbol, FunctionType::get(m.context, types, {}));
  info.func = func;
  Block *body = func.addEntryBlock();
  b.setInsertionPointToStart(body);
  for (auto [argument, index] : llvm::zip(body->getArguments(), argumentOf))
    values[index].value = argument;
  for (size_t i = 0; i < params.size(); ++i)
    first.vars[params[i].name] = values[i];
  if (isEntry && function.method)
    first.locals.insert("self");

  block(def.list("body"));

  // The results.
  std::vector<Val> returned;
  if (first.result && first.result->kind != Val::None) {
    if (first.result->kind == Val::Tuple)
      returned = first.result->items;
    else
      returned = {*first.result};
  }
  bool hasErrors = llvm::any_of(llvm::ArrayRef(m.diagnostics).drop_front(errorMark),
                                [](const Diagnostic &d) { return d.kind != ErrorKind::Warning; });
  llvm::SmallVector<Value> results;
  llvm::SmallVector<int64_t> returns;
  for (const Val &v : returned) {
    if (v.isUnknown())
      continue;
    if (v.isShaped() && v.gm && !v.view && rootParameter.count(v.root)) {
      returns.push_back(rootParameter[v.root]);
      continue;
    }
    if (!v.isShaped()) {
      if (!hasErrors)
        typeError(def,
                  "'" + function.name + "' returns " + describe(v) + "; a function returns tensors",
                  "write the scalar into a tensor with pl.write");
      continue;
    }
    returns.push_back(-static_cast<int64_t>(results.size()) - 1);
    // Results are tensors in memory, also of kernels that compute tiles.
    Val memory = v;
    memory.kind = Val::Tensor;
    results.push_back(v.kind == Val::Tile ? retype(v.value, typeOf(memory), loc) : v.value);
    Val type = v;
    type.value = Value();
    type.kind = Val::Tensor;
    type.space = MemorySpace::None;
    type.gm = true;
    type.view = false;
    type.valid = type.shape;
    info.results.push_back(type);
  }
  info.returns.assign(returns.begin(), returns.end());
  for (int root : writtenRoots)
    if (auto it = rootParameter.find(root); it != rootParameter.end())
      info.written.insert(it->second);
  for (auto &[name, span] : lostWrites) {
    int index = parameterIndex[name];
    if (info.written.count(index) || params[index].direction == ParamInfo::In)
      continue;
    Node at;
    at.span = span;
    invalid(at,
            "'" + name +
                "' is an output parameter, but this only binds the name to a new value; the "
                "caller's tensor is never written",
            "write " + name + "[:] = …, or " + name + " = pl.assemble(" + name + ", …, [0, 0])");
  }
  func::ReturnOp::create(b, loc, results);
  func.setFunctionType(FunctionType::get(
      m.context, types, llvm::map_to_vector(results, [](Value v) { return v.getType(); })));

  // What callers and the lowering read.
  func->setAttr("pypto.func_type", b.getStringAttr(functionType));
  // Parameters that are constants are no arguments: positions count arguments.
  llvm::SmallVector<int64_t> positions = llvm::map_to_vector(returns, [&](int64_t index) {
    return index < 0 ? index
                     : static_cast<int64_t>(llvm::find(argumentOf, index) - argumentOf.begin());
  });
  func->setAttr("pypto.returns", b.getDenseI64ArrayAttr(positions));
  if (isEntry)
    func->setAttr("pypto.entry", b.getUnitAttr());
  for (auto [position, index] : llvm::enumerate(argumentOf)) {
    const ParamSpec &p = params[index];
    ParamInfo::Direction direction = p.direction;
    if (direction == ParamInfo::In && info.written.count(index))
      direction = ParamInfo::InOut;
    func.setArgAttr(position, "pypto.name", b.getStringAttr(p.name));
    func.setArgAttr(position, "pypto.direction", b.getStringAttr(directionName(direction)));
    info.params[index].direction = direction;
    if (p.kind == ParamSpec::Scalar) {
      func.setArgAttr(position, "pypto.scalar", b.getStringAttr(nameOf(*p.dtype)));
    } else {
      llvm::SmallVector<Attribute> names;
      for (const ExtentSpec &e : *p.shape)
        names.push_back(b.getStringAttr(e.size ? "" : e.name));
      func.setArgAttr(position, "pypto.dyn", b.getArrayAttr(names));
    }
  }
  frame = nullptr;
  return m.diagnostics.size() == errorMark ||
         llvm::none_of(llvm::ArrayRef(m.diagnostics).drop_front(errorMark),
                       [](const Diagnostic &d) { return d.kind != ErrorKind::Warning; });
}

KernelInfo *Walker::kernelFor(const Node &node, const Function &callee,
                              const std::vector<Val> &arguments,
                              const std::vector<const Node *> &nodes) {
  if (llvm::is_contained(m.building, &callee)) {
    invalid(node, "'" + callee.name + "' calls itself", "a kernel cannot be recursive");
    return nullptr;
  }
  AnnotationReader reader(callee.env.get(),
                          [&](const Node &at, ErrorKind kind, std::string message,
                              std::string help) { error(kind, at, message, help); });
  const Node &signature = *callee.def->get("args");
  std::vector<const Node *> parameters;
  for (const char *field : {"posonlyargs", "args", "kwonlyargs"})
    for (const auto &p : signature.list(field))
      parameters.push_back(p.get());
  if (callee.method && !parameters.empty())
    parameters.erase(parameters.begin());
  std::vector<ParamSpec> params;
  std::string key;
  llvm::raw_string_ostream out(key);
  out << &callee;
  for (size_t i = 0; i < parameters.size(); ++i) {
    ParamSpec spec;
    spec.name = parameters[i]->str("arg");
    spec.node = parameters[i];
    if (!reader.read(parameters[i]->get("annotation"), spec))
      return nullptr;
    const Val &v = arguments[i];
    const Node &at = nodes[i] ? *nodes[i] : node;
    auto mismatch = [&](const llvm::Twine &what) {
      typeError(at, "'" + callee.name + "': parameter '" + spec.name + "' " + what +
                        ", the argument is " + describe(v));
      return nullptr;
    };
    if (spec.kind == ParamSpec::Bare &&
        (callee.form == Function::Form::Plain || v.isShaped() == false)) {
      if (callee.form == Function::Form::Plain) {
        typeError(*spec.node,
                  "parameter '" + spec.name + "' of '" + callee.name + "' has no annotation",
                  "write " + spec.name + ": pl.Tensor[[…], dtype]");
        return nullptr;
      }
      if (v.isConstant() || v.kind == Val::Py || v.kind == Val::Tuple || v.kind == Val::None) {
        // A constant of the caller is a constant of the kernel.
        PyValue baked;
        if (auto flag = v.boolean()) {
          baked.kind = PyValue::Bool;
          baked.boolean = *flag;
          baked.integer = *flag;
        } else if (auto i64 = v.integer()) {
          baked.kind = PyValue::Int;
          baked.integer = *i64;
        } else if (auto real = v.real()) {
          baked.kind = PyValue::Float;
          baked.real = *real;
        } else if (v.kind == Val::Py) {
          baked = *v.python;
        } else {
          return mismatch("has no annotation");
        }
        spec.baked = baked;
        spec.kind = ParamSpec::Scalar;
        if (v.isScalar())
          spec.dtype = v.dtype;
        out << ";" << int(baked.kind) << ":" << baked.integer << ":" << baked.real << ":"
            << baked.text;
        params.push_back(std::move(spec));
        continue;
      }
      if (!v.isScalar())
        return mismatch("has no annotation");
      spec.kind = ParamSpec::Scalar;
      spec.dtype = v.dtype;
    }
    if (spec.kind == ParamSpec::Scalar) {
      reader.scalarNames.push_back(spec.name);
      bool literal = v.isConstant() && isFloat(v.dtype) == isFloat(*spec.dtype);
      bool task = spec.dtype == DType::TaskId && (v.kind == Val::TaskId || v.kind == Val::None);
      if (!task && (!v.isScalar() || (!literal && !compatible(v.dtype, *spec.dtype))))
        return mismatch("is a " + nameOf(*spec.dtype) + " scalar");
      out << ";" << nameOf(*spec.dtype);
      params.push_back(std::move(spec));
      continue;
    }
    if (spec.kind == ParamSpec::Array || spec.kind == ParamSpec::Tuple ||
        spec.kind == ParamSpec::Tile) {
      typeError(*spec.node,
                "parameter '" + spec.name + "' of kernel '" + callee.name +
                    "' must be a tensor or a scalar",
                "pass it to a @pl.jit.inline function");
      return nullptr;
    }
    if (v.kind != Val::Tensor || !v.gm)
      return mismatch("is a tensor in memory");
    if (spec.dtype && *spec.dtype != v.dtype)
      return mismatch("has " + nameOf(*spec.dtype) + " elements");
    if (spec.layout == TensorLayout::NZ && v.layout != spec.layout)
      return mismatch("has the layout NZ");
    if (spec.shape && spec.shape->size() != v.rank())
      return mismatch("has rank " + llvm::Twine(spec.shape->size()));
    std::vector<ExtentSpec> shape;
    for (size_t axis = 0; axis < v.rank(); ++axis) {
      ExtentSpec e;
      if (spec.shape)
        e.name = (*spec.shape)[axis].name;
      if (spec.shape && (*spec.shape)[axis].size) {
        if (symbols.equal(Affine(*(*spec.shape)[axis].size), v.shape[axis]) == false)
          return mismatch("has extent " + llvm::Twine(*(*spec.shape)[axis].size) + " in axis " +
                          llvm::Twine(axis));
        e.size = v.shape[axis].isConstant() ? std::optional(v.shape[axis].constant) : std::nullopt;
      } else if (v.shape[axis].isConstant()) {
        e.size = v.shape[axis].constant;
      }
      shape.push_back(e);
    }
    spec.kind = ParamSpec::Tensor;
    spec.shape = shape;
    spec.dtype = v.dtype;
    spec.strides = v.strides;
    spec.layout = v.layout;
    out << ";" << typeOf(shaped(Val::Tensor, v.dtype, v.shape));
    for (int64_t stride : v.strides)
      out << "," << stride;
    out << "," << int(v.layout);
    params.push_back(std::move(spec));
  }
  auto [it, isNew] = m.kernels.try_emplace(key);
  if (!isNew)
    return it->second.func ? &it->second : nullptr;
  m.building.push_back(&callee);
  Walker inner(m);
  size_t before = m.diagnostics.size();
  bool good = inner.build(callee, std::move(params), "InCore", false, it->second);
  m.building.pop_back();
  if (!good) {
    for (size_t i = before; i < m.diagnostics.size(); ++i)
      m.diagnostics[i].notes.push_back({"in kernel " + callee.name + "(), called here", node.span});
    m.kernels.erase(it);
    return nullptr;
  }
  return &it->second;
}

Val Walker::launch(const Node &node, const Function &callee,
                   std::vector<std::pair<std::string, Val>> arguments,
                   const std::vector<const Node *> &nodes, Launch &parts, Val *task) {
  Location loc = locationOf(node);
  // Out arguments that were left out.
  const Node &signature = *callee.def->get("args");
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (nodes[i] || arguments[i].second.kind != Val::None)
      continue;
    ParamSpec spec;
    AnnotationReader reader(callee.env.get(),
                            [&](const Node &at, ErrorKind kind, std::string message,
                                std::string help) { error(kind, at, message, help); });
    for (const auto &p : signature.list("args"))
      if (p->str("arg") == arguments[i].first && !reader.read(p->get("annotation"), spec))
        return Val();
    bool whole = spec.shape && spec.dtype;
    for (size_t axis = 0; whole && axis < spec.shape->size(); ++axis)
      whole = (*spec.shape)[axis].size.has_value();
    if (!whole)
      return typeError(
          node,
          "'" + callee.name + "': argument '" + arguments[i].first +
              "' is missing, and its annotation gives no constant shape to make it from",
          "pass pl.create_tensor(…)");
    std::vector<Val> shape;
    for (const ExtentSpec &e : *spec.shape)
      shape.push_back(constantInt(*e.size));
    PyValue type;
    type.kind = PyValue::DType;
    type.text = nameOf(*spec.dtype);
    arguments[i].second =
        buildOp("create_tensor", node, {{"shape", tuple(shape)}, {"dtype", fromPython(type)}});
    if (arguments[i].second.isUnknown())
      return Val();
  }
  std::vector<Val> values;
  for (auto &[name, value] : arguments)
    values.push_back(value);
  KernelInfo *kernel = kernelFor(node, callee, values, nodes);
  if (!kernel)
    return Val();

  OpParts op;
  llvm::SmallVector<int64_t> noDep;
  for (size_t i = 0; i < values.size(); ++i) {
    const ParamSpec &p = kernel->params[i];
    if (p.baked)
      continue;
    if (nodes[i] && isCallOf(nodes[i], "no_dep"))
      noDep.push_back(op.groups["args"].size());
    Val v = values[i];
    if (v.isScalar())
      v = castScalar(v, *p.dtype, loc);
    op.groups["args"].push_back(materialise(v, loc));
    if (v.isShaped() && v.gm && kernel->written.count(i)) {
      writtenRoots.insert(v.root);
    }
  }
  if (parts.coreNum)
    op.groups["core_num"].push_back(parts.coreNum);
  op.groups["deps"] = parts.deps;
  if (parts.predicateTensor) {
    op.groups["predicate_tensor"].push_back(parts.predicateTensor);
    op.groups["predicate_indices"] = parts.predicateIndices;
    op.attributes.push_back(b.getNamedAttr("predicate_op", b.getStringAttr(parts.predicateOp)));
    op.attributes.push_back(
        b.getNamedAttr("predicate_target", b.getI64IntegerAttr(parts.predicateTarget)));
  }
  op.attributes.push_back(
      b.getNamedAttr("callee", FlatSymbolRefAttr::get(m.context, kernel->name)));
  if (!noDep.empty())
    op.attributes.push_back(b.getNamedAttr("no_dep", b.getDenseI64ArrayAttr(noDep)));
  if (parts.syncStart)
    op.attributes.push_back(b.getNamedAttr("sync_start", b.getBoolAttr(true)));
  if (parts.allowEarlyResolve)
    op.attributes.push_back(b.getNamedAttr("allow_early_resolve", b.getBoolAttr(true)));
  // Extents of results that are dynamic belong to the callee's symbols.
  std::vector<Val> results = kernel->results;
  llvm::SmallVector<Type> types;
  for (Val &r : results) {
    for (auto *list : {&r.shape, &r.valid})
      for (Affine &a : *list)
        if (!a.isConstant())
          a = symbols.fresh({0, std::nullopt});
    types.push_back(typeOf(r));
  }
  types.push_back(TaskIdType::get(m.context));
  Operation *created = create("call", loc, op, types);
  if (task) {
    task->kind = Val::TaskId;
    task->value = created->getResults().back();
  }
  std::vector<Val> items;
  for (int index : kernel->returns) {
    if (index >= 0) {
      items.push_back(values[index]);
      continue;
    }
    Val r = finish(results[-index - 1], created->getResult(-index - 1));
    r.gm = true;
    items.push_back(r);
  }
  if (items.empty())
    return none();
  return items.size() == 1 ? items[0] : tuple(std::move(items));
}

} // namespace pypto::importer
