/** Which keys were pressed, as the table of keys writes them: `n`, `Mod+k`, `Alt+ArrowDown`, `g l`. Pure. */
export interface KeyPress {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** In the table's notation. `Mod` is Cmd on Apple's keyboards and Ctrl elsewhere. */
export function comboOf(press: KeyPress, isApple: boolean): string {
  const { ctrlKey, metaKey, altKey } = press;
  const isMod = isApple ? metaKey : ctrlKey;
  const other = isApple ? ctrlKey : metaKey;
  const modifiers = [isMod && 'Mod', other && (isApple ? 'Ctrl' : 'Meta'), altKey && 'Alt'].filter(Boolean);
  return [...modifiers, keyOf(press)].join('+');
}

/** The key as it is printed, whatever script the person writes and whatever a modifier makes of it. */
function keyOf({ key, code, altKey, shiftKey }: KeyPress): string {
  const printed = /^(?:Key|Digit)(.)$/.exec(code)?.[1]?.toLowerCase();
  const isForeign = key.length === 1 && key.charCodeAt(0) > 127;
  if (printed !== undefined && (altKey || isForeign)) return printed;
  // Capitals by the lock are meant as small letters; with Shift they are another key.
  return key.length === 1 && !shiftKey ? key.toLowerCase() : key;
}

/** Plain letters would be typed into a field; so would some of Alt's, on keyboards of Apple's. */
export function isTyped(combo: string, isApple: boolean): boolean {
  const modifiers = combo.split('+').slice(0, -1);
  if (modifiers.length === 0) return !/^F\d+$/.test(combo);
  return isApple && modifiers.length === 1 && modifiers[0] === 'Alt';
}

/** One key of the table, as it is printed on keyboards. */
export function keycaps(combo: string, isApple: boolean): readonly string[] {
  const printed: Record<string, string> = {
    Mod: isApple ? '⌘' : 'Ctrl',
    Alt: isApple ? '⌥' : 'Alt',
    ArrowDown: '↓',
    ArrowUp: '↑',
    Escape: 'Esc',
  };
  return combo.split(/[+ ]/).map((part) => printed[part] ?? (/^[a-z]$/.test(part) ? part.toUpperCase() : part));
}
