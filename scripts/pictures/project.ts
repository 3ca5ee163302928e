/** The small project that the pictures show work on: a shop's cart, with a bug that its own test finds. Nobody's real code. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The pictures show these names, so they say something. */
export const SHOP = '/tmp/acme-web';
export const API = '/tmp/acme-api';

export const BUGGY = '  const discounted = subtotal - subtotal * rate;\n  return discounted - discounted * rate;';
export const MENDED =
  '  // Once, and in whole cents: a customer is never charged a fraction.\n  return subtotal - Math.round(subtotal * rate);';

const CART = `import type { Discount, Line } from './types.ts';

/** What the lines cost, in cents. */
export function subtotal(lines: readonly Line[]): number {
  return lines.reduce((sum, { price, count }) => sum + price * count, 0);
}

function applyDiscount(subtotal: number, { rate }: Discount): number {
${BUGGY}
}

export function total(lines: readonly Line[], discount?: Discount): number {
  const sum = subtotal(lines);
  return discount ? applyDiscount(sum, discount) : sum;
}
`;

const CART_TEST = `import assert from 'node:assert/strict';
import { subtotal, total } from '../src/cart.ts';

const lines = [
  { name: 'Notebook', price: 1200, count: 2 },
  { name: 'Pencil', price: 150, count: 4 },
];

check('adds up the lines', subtotal(lines), 3000);
check('without a discount the total is the subtotal', total(lines), 3000);
check('a discount of 10 % is taken once', total(lines, { code: 'SPRING', rate: 0.1 }), 2700);
check('cents are whole', total([{ name: 'Pen', price: 199, count: 1 }], { code: 'VIP', rate: 0.15 }), 169);

function check(name: string, actual: number, expected: number): void {
  try {
    assert.equal(actual, expected);
    console.log(\`ok      \${name}\`);
  } catch {
    process.exitCode = 1;
    console.log(\`not ok  \${name}: expected \${expected}, got \${actual}\`);
  }
}
`;

const FILES: Record<string, string> = {
  'package.json':
    '{\n  "name": "acme-web",\n  "type": "module",\n  "scripts": { "test": "node test/cart.test.ts" }\n}\n',
  'README.md': '# acme-web\n\nThe cart of the shop. Prices are in cents.\n',
  'src/cart.ts': CART,
  'src/types.ts':
    'export interface Line {\n  name: string;\n  price: number;\n  count: number;\n}\n\nexport interface Discount {\n  code: string;\n  rate: number;\n}\n',
  'src/shipping.ts':
    "import { total } from './cart.ts';\n\nexport const FREE_FROM = 5000;\n\nexport const isFree = (sum: number) => sum >= FREE_FROM;\n",
  'test/cart.test.ts': CART_TEST,
};

export async function writeProject(directory: string): Promise<void> {
  for (const [name, text] of Object.entries(FILES)) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}
