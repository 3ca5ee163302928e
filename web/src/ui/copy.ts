/** Puts a text on the clipboard; also on pages that were not served securely, which have only the old way. It never reads it. */

/** @throws when the browser does not allow it. */
export async function copyText(text: string | Promise<string>): Promise<void> {
  if (navigator.clipboard === undefined) return copyTheOldWay(await text);
  if (typeof text === 'string') return navigator.clipboard.writeText(text);
  // Some browsers forget the click that asked for it while the text is on its way: they are given the promise.
  const blob = text.then((ready) => new Blob([ready], { type: 'text/plain' }));
  await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
}

function copyTheOldWay(text: string): void {
  const before = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'visually-hidden';
  // Inside the open dialog, where there is one: nothing outside of it can have the focus.
  (before?.closest('dialog') ?? document.body).append(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!isDone) throw new Error('the browser did not copy it');
}
