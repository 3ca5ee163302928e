/** Waiting, but not for ever. */

/** @param late gives what stands for an answer that did not come in time, or throws */
export async function within<T>(milliseconds: number, promise: Promise<T>, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  try {
    return await Promise.race([promise, timeout.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
