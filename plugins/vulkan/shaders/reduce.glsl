// Sums over the workgroup, whatever its subgroups.
shared float subgroup_sums[gl_WorkGroupSize.x];

// The same value for every thread; all of them must call it.
float workgroup_sum(float value) {
  const float sum = subgroupAdd(value);
  barrier();  // what an earlier call left may still be read
  if (subgroupElect()) subgroup_sums[gl_SubgroupID] = sum;
  barrier();
  float total = 0.0;
  for (uint i = 0u; i < gl_NumSubgroups; i++) total += subgroup_sums[i];
  return total;
}
