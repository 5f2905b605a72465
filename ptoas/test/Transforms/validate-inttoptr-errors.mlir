// RUN: %pto-opt %s -pto-validate-inttoptr-uses -verify-diagnostics
func.func private @callee(!pto.ptr<f32>)
func.func @uses(%a: i64, %i: index, %x: f32) {
  // expected-note @below {{made here}}
  %p = pto.inttoptr %a : i64 -> !pto.ptr<f32>
  pto.store_scalar %x, %p[%i] : !pto.ptr<f32>, f32
  %q = pto.addptr %p, %i : !pto.ptr<f32> -> !pto.ptr<f32>
  %t = pto.make_tensor_view %q, shape = [%i], strides = [%i] : !pto.tensor_view<?xf32>
  // expected-error @below {{'func.call' op must not use a pointer that was made from an integer}}
  func.call @callee(%q) : (!pto.ptr<f32>) -> ()
  return
}
