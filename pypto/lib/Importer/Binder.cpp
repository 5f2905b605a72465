//===- Binder.cpp - arguments of language functions to operands -----------===//
//
// Strict: the signature rows of the op table say which parameters exist. An unknown
// keyword is an error that lists the accepted names.
//
//===----------------------------------------------------------------------===//
#include "Walker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace pypto::importer {
using ast::Node;

static std::string acceptedNames(const SignatureRow &row) {
  std::string text;
  for (const ParamInfoRow &p : row.params)
    text += (text.empty() ? "" : ", ") + p.name.str();
  return text.empty() ? "it takes no arguments" : "accepted: " + text;
}

const SignatureRow *Walker::chooseSignature(const Node &node, const std::string &path,
                                            llvm::ArrayRef<SignatureRow> rows) {
  const auto &args = node.list("args");
  const auto &keywords = node.list("keywords");
  auto fits = [&](const SignatureRow &row) {
    size_t positional =
        llvm::count_if(row.params, [](const ParamInfoRow &p) { return !p.keywordOnly; });
    if (args.size() > positional)
      return false;
    for (const auto &k : keywords)
      if (llvm::none_of(row.params, [&](const ParamInfoRow &p) { return p.name == k->str("arg"); }))
        return false;
    size_t index = 0;
    for (const ParamInfoRow &p : row.params) {
      bool given = !p.keywordOnly && index < args.size();
      index += !p.keywordOnly;
      given |= llvm::any_of(keywords, [&](const auto &k) { return k->str("arg") == p.name; });
      if (!given && p.defaultText.empty())
        return false;
    }
    return true;
  };
  for (const SignatureRow &row : rows)
    if (fits(row))
      return &row;
  // Nothing fits: explain by the row that knows the most of the keywords.
  const SignatureRow *best = &rows.front();
  size_t bestScore = 0;
  for (const SignatureRow &row : rows) {
    size_t score = llvm::count_if(keywords, [&](const auto &k) {
      return llvm::any_of(row.params,
                          [&](const ParamInfoRow &p) { return p.name == k->str("arg"); });
    });
    if (score > bestScore) {
      best = &row;
      bestScore = score;
    }
  }
  size_t positional =
      llvm::count_if(best->params, [](const ParamInfoRow &p) { return !p.keywordOnly; });
  std::string function = "pl." + path;
  for (const auto &k : keywords)
    if (llvm::none_of(best->params,
                      [&](const ParamInfoRow &p) { return p.name == k->str("arg"); })) {
      invalid(*k, function + ": unknown keyword '" + k->str("arg") + "'", acceptedNames(*best));
      return nullptr;
    }
  if (args.size() > positional) {
    invalid(*args[positional],
            function + " takes " + llvm::Twine(positional) + " positional arguments, " +
                llvm::Twine(args.size()) + " were given",
            acceptedNames(*best));
    return nullptr;
  }
  size_t index = 0;
  for (const ParamInfoRow &p : best->params) {
    bool given = !p.keywordOnly && index < args.size();
    index += !p.keywordOnly;
    given |= llvm::any_of(keywords, [&](const auto &k) { return k->str("arg") == p.name; });
    if (!given && p.defaultText.empty()) {
      invalid(node, function + ": argument '" + p.name + "' is missing", acceptedNames(*best));
      return nullptr;
    }
  }
  invalid(node, function + ": the arguments fit no form of the function", acceptedNames(*best));
  return nullptr;
}

bool Walker::bind(const Node &node, const std::string &path, Bound &bound) {
  llvm::ArrayRef<SignatureRow> rows = findSignatures(path);
  for (const auto &arg : node.list("args"))
    if (arg->kind == "Starred") {
      unsupported(*arg, "starred arguments are not supported");
      return false;
    }
  for (const auto &k : node.list("keywords"))
    if (k->str("arg").empty()) {
      unsupported(*k, "`**` arguments are not supported");
      return false;
    }
  bound.call = &node;
  bound.name = path;
  bound.signature = chooseSignature(node, path, rows);
  if (!bound.signature)
    return false;
  bool good = true;
  auto give = [&](const ParamInfoRow &p, const Node &value) {
    std::string key = p.name.str();
    if (bound.nodes.count(key)) {
      invalid(value, "pl." + path + ": argument '" + key + "' is given twice");
      good = false;
      return;
    }
    bound.nodes[key] = &value;
    if (p.kind == ParamKind::Deps)
      return; // may be a comprehension
    Val v = expr(value);
    good &= !v.isUnknown();
    bound.values[key] = v;
  };
  size_t index = 0;
  for (const ParamInfoRow &p : bound.signature->params) {
    if (p.keywordOnly)
      break;
    if (index < node.list("args").size())
      give(p, *node.list("args")[index++]);
  }
  for (const auto &k : node.list("keywords"))
    for (const ParamInfoRow &p : bound.signature->params)
      if (p.name == k->str("arg"))
        give(p, *k->get("value"));
  return good;
}

std::optional<std::string> Walker::enumArgument(const Val &value, llvm::StringRef enumName,
                                                const Node &at, llvm::StringRef parameter) {
  const PyEnumRow *row = findPyEnum(enumName);
  std::string member;
  if (value.kind == Val::Py && value.python->kind == PyValue::Enum) {
    llvm::StringRef text = value.python->text;
    auto [cls, name] = text.split('.');
    bool same = cls == enumName || (enumName == "MemorySpace" && cls == "Mem");
    if (same)
      member = name.str();
  } else if (value.kind == Val::Py && value.python->kind == PyValue::Str) {
    member = value.python->text;
  } else if (auto number = value.integer(); number && value.dtype != DType::Bool) {
    for (auto [name, code] : llvm::zip(row->members, row->values))
      if (code == *number)
        member = name.str();
  }
  std::string accepted;
  for (llvm::StringRef name : row->members) {
    if (name == member || (!member.empty() && name.equals_insensitive(member))) {
      return name.rtrim('_').lower();
    }
    accepted += (accepted.empty() ? "" : ", ") + name.str();
  }
  error(value.isScalar() || value.kind == Val::Py ? ErrorKind::InvalidOperation : ErrorKind::Type,
        at,
        "'" + parameter.str() + "' is " + (member.empty() ? describe(value) : "'" + member + "'") +
            ", which is no " + enumName.str(),
        "accepted: " + accepted);
  return std::nullopt;
}

bool Walker::integers(const Val &list, const Node &at, llvm::StringRef what,
                      std::vector<Affine> &out, std::vector<Val> *values, bool constant) {
  std::vector<Val> items;
  if (list.kind == Val::Tuple)
    items = list.items;
  else if (list.isScalar())
    items = {list};
  else {
    typeError(at, what + " is a list of integers, not " + describe(list));
    return false;
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const Node &where = (at.kind == "List" || at.kind == "Tuple") && i < at.list("elts").size()
                            ? *at.list("elts")[i]
                            : at;
    if (!items[i].isScalar() || !isInteger(items[i].dtype)) {
      typeError(where, what + " is a list of integers, element " + llvm::Twine(i) + " is " +
                           describe(items[i]));
      return false;
    }
    if (constant && !items[i].affine.isConstant()) {
      askToBake(items[i]);
      invalid(where,
              what + ": extent " + llvm::Twine(i) + " must be known when the program is compiled",
              "shapes of tiles are constants; give run-time extents as valid_shape");
      return false;
    }
    out.push_back(items[i].affine);
    if (values)
      values->push_back(castScalar(items[i], DType::Index, locationOf(where)));
  }
  return true;
}

/// Operands and attributes of the op from the bound arguments.
bool Walker::collectParts(Bound &bound, OpParts &parts, llvm::ArrayRef<Val> results) {
  const OpRow &op = *bound.signature->op;
  auto hasAttribute = [&](llvm::StringRef name) { return llvm::is_contained(op.attributes, name); };
  for (const ParamInfoRow &p : bound.signature->params) {
    std::string key = p.name.str();
    if (!bound.nodes.count(key) && !bound.values.count(key)) {
      // An absent scalar operand with a default is a constant.
      if ((p.kind == ParamKind::Scalar || p.kind == ParamKind::Index) && !p.defaultText.empty() &&
          p.defaultText != "None") {
        int64_t number = 0;
        if (!llvm::StringRef(p.defaultText).getAsInteger(10, number))
          parts.groups[p.target.str()].push_back(materialise(
              constantInt(number, p.kind == ParamKind::Index ? DType::Index : DType::Int32),
              locationOf(*bound.call)));
      }
      continue;
    }
    const Node &at = bound.at(key.c_str());
    Location loc = locationOf(at);
    const Val &v = bound[key.c_str()];
    if (p.kind == ParamKind::Deps) {
      llvm::SmallVector<Value> deps;
      if (!dependencies(at, deps))
        return false;
      parts.groups[p.target.str()].append(deps.begin(), deps.end());
      continue;
    }
    if (v.kind == Val::None || p.kind == ParamKind::Scratch)
      continue;
    switch (p.kind) {
    case ParamKind::Value:
    case ParamKind::ValueOrScalar:
    case ParamKind::Scalar: {
      bool allowed = (p.kind != ParamKind::Scalar && (v.isShaped() || v.kind == Val::Array)) ||
                     (p.kind != ParamKind::Value && (v.isScalar() || v.kind == Val::TaskId));
      if (!allowed) {
        typeError(at, "pl." + bound.name + ": '" + key + "' is " + describe(v) + "; it takes " +
                          (p.kind == ParamKind::Value    ? "a tensor or tile"
                           : p.kind == ParamKind::Scalar ? "a scalar"
                                                         : "a tensor, a tile or a scalar"));
        return false;
      }
      parts.groups[p.target.str()].push_back(materialise(v, loc));
      break;
    }
    case ParamKind::Index: {
      Value index = indexOf(v, at);
      if (!index)
        return false;
      parts.groups[p.target.str()].push_back(index);
      break;
    }
    case ParamKind::Offsets:
    case ParamKind::Valid:
    case ParamKind::Shape: {
      std::vector<Affine> forms;
      std::vector<Val> list;
      if (!integers(v, at, key, forms, &list))
        return false;
      for (const Val &item : list)
        parts.groups[p.target.str()].push_back(materialise(item, loc));
      break;
    }
    case ParamKind::ConstShape:
      if (hasAttribute(p.target)) {
        std::vector<Affine> forms;
        if (!integers(v, at, key, forms, nullptr, true))
          return false;
        auto list = llvm::map_to_vector(forms, [](const Affine &a) { return a.constant; });
        parts.attributes.push_back(b.getNamedAttr(p.target, b.getDenseI64ArrayAttr(list)));
      }
      break;
    case ParamKind::Ints: {
      std::vector<Affine> forms;
      if (!integers(v, at, key, forms, nullptr, true))
        return false;
      auto list = llvm::map_to_vector(forms, [](const Affine &a) { return a.constant; });
      parts.attributes.push_back(b.getNamedAttr(p.target, b.getDenseI64ArrayAttr(list)));
      break;
    }
    case ParamKind::DType:
      if (hasAttribute(p.target)) {
        auto type = dtypeArgument(bound, key.c_str());
        if (!type)
          return false;
        parts.attributes.push_back(b.getNamedAttr(p.target, TypeAttr::get(elementType(*type))));
      }
      break;
    case ParamKind::Int: {
      auto number = v.integer();
      if (!number || v.dtype == DType::Bool) {
        if (v.isScalar())
          askToBake(v);
        typeError(at, "pl." + bound.name + ": '" + key + "' must be an integer constant, this is " +
                          describe(v));
        return false;
      }
      parts.attributes.push_back(b.getNamedAttr(p.target, b.getI64IntegerAttr(*number)));
      break;
    }
    case ParamKind::Number: {
      if (!v.isConstant()) {
        if (v.isScalar())
          askToBake(v);
        invalid(at,
                "pl." + bound.name + ": '" + key + "' must be a constant number, this is " +
                    describe(v),
                "for a run-time scalar use pl.add(pl.full(…, value=0), x)");
        return false;
      }
      DType element = results.empty() ? DType::FP32 : results[0].dtype;
      Attribute attr = isFloat(element) ? Attribute(b.getF64FloatAttr(*v.real()))
                                        : Attribute(b.getI64IntegerAttr(v.integer().value_or(
                                              static_cast<int64_t>(*v.real()))));
      parts.attributes.push_back(b.getNamedAttr(p.target, attr));
      break;
    }
    case ParamKind::Bool: {
      auto flag = v.boolean();
      if (!flag) {
        typeError(at, "pl." + bound.name + ": '" + key + "' must be True or False, this is " +
                          describe(v));
        return false;
      }
      if (*flag)
        parts.attributes.push_back(b.getNamedAttr(p.target, b.getBoolAttr(true)));
      break;
    }
    case ParamKind::Str:
      if (v.kind != Val::Py || v.python->kind != PyValue::Str) {
        typeError(at,
                  "pl." + bound.name + ": '" + key + "' must be a string, this is " + describe(v));
        return false;
      }
      parts.attributes.push_back(b.getNamedAttr(p.target, b.getStringAttr(v.python->text)));
      break;
    case ParamKind::Enum: {
      auto member = enumArgument(v, p.enumName, at, key);
      if (!member)
        return false;
      parts.attributes.push_back(b.getNamedAttr(p.target, b.getStringAttr(*member)));
      break;
    }
    default:
      break;
    }
  }
  for (llvm::StringRef fixed : bound.signature->fixed) {
    auto [key, value] = fixed.split('=');
    Attribute attr = value == "true" || value == "false" ? Attribute(b.getBoolAttr(value == "true"))
                                                         : Attribute(b.getStringAttr(value));
    parts.attributes.push_back(b.getNamedAttr(key, attr));
  }
  return true;
}

Operation *Walker::create(llvm::StringRef name, Location loc, OpParts &parts,
                          llvm::ArrayRef<Type> results,
                          llvm::SmallVector<std::unique_ptr<Region>> regions) {
  const OpRow *row = findOp(name);
  OperationState state(loc, ("pypto." + name).str());
  llvm::SmallVector<int32_t> segments;
  for (const OperandGroup &group : row->operands) {
    auto &values = parts.groups[group.name.str()];
    state.addOperands(values);
    segments.push_back(values.size());
  }
  if (row->segmented)
    state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(segments));
  state.addAttributes(parts.attributes);
  state.addTypes(results);
  for (auto &region : regions)
    state.addRegion(std::move(region));
  return b.create(state);
}

std::optional<DType> Walker::dtypeArgument(const Bound &bound, const char *parameter) {
  const Val &v = bound[parameter];
  if (v.kind == Val::Py && v.python->kind == PyValue::DType)
    if (auto type = dtypeByName(v.python->text))
      return type;
  typeError(bound.at(parameter), "pl." + bound.name + ": '" + parameter +
                                     "' must be an element type like pl.FP32, this is " +
                                     describe(v));
  return std::nullopt;
}

Val Walker::finish(const Val &type, Value value) {
  Val result = type;
  result.value = value;
  if (result.isShaped())
    result.root = newRoot();
  return result;
}

} // namespace pypto::importer
