// RUN: %pto-opt %s -pto-infer-layout -split-input-file -verify-diagnostics
func.func @dn(%p: !pto.ptr<f32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  // expected-error @below {{layout mismatch: user-specified layout=dn but inferred=nd}}
  %v = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c64, %c1] {layout = #pto.layout<dn>} : !pto.tensor_view<?x?xf32>
  return
}

// -----
func.func @nd(%p: !pto.ptr<f32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  // expected-error @below {{layout mismatch: user-specified layout=nd but inferred=dn}}
  %v = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c1, %c16] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
  return
}

// -----
func.func @nz(%p: !pto.ptr<f32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  // expected-error @below {{layout mismatch: user-specified layout=nz but inferred=nd}}
  %v = pto.make_tensor_view %p, shape = [%c16, %c16], strides = [%c16, %c1] {layout = #pto.layout<nz>} : !pto.tensor_view<?x?xf32>
  return
}

// -----
func.func @neither(%p: !pto.ptr<f32>) {
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  // expected-error @below {{layout mismatch: layout=nd needs a stride of 1 in the last dimension, got 2}}
  %v = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [%c64, %c2] {layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>
  return
}
