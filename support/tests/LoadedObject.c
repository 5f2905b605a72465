// Loaded by SharedObjectTest: a constructor, a function, and no other symbol.
int support_test_add(int a, int b) { return a + b; }
