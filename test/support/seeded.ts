/** Random numbers that can be had again: the seed is printed, and PIXIR_TEST_SEED brings it back. */

/** @returns numbers in [0, 1), as Math.random does. */
export function seeded(name: string): () => number {
  const seed = Number(process.env.PIXIR_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`# ${name}: PIXIR_TEST_SEED=${seed}`);
  let state = seed;
  // mulberry32
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
