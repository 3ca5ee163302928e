/** What the made-up model says in the pictures, request by request. It pretends nothing that a real one could not say. */
import type { Json } from '../../src/core/event.ts';
import { call, type Delta, type ModelStep, message, thought } from '../../test/support/fake-openai-steps.ts';
import { BUGGY, MENDED } from './project.ts';

export const TITLE = 'Vouchers are taken off twice';
export const PROMPT =
  'A customer with a 10% voucher paid too little, and `test/cart.test.ts` fails. Find out why and mend it.\n\nPlease keep the cents whole.';

/** How full the context is, growing from request to request. */
const used = (input: number): ModelStep => ({
  type: 'usage',
  usage: { input, cached: Math.floor(input * 0.8), output: 640, reasoning: 210 },
});

const STEPS = [
  'Read the cart and its test',
  'Run the test to see it fail',
  'Take the discount once, in whole cents',
  'Run the test again',
];

function plan(callId: string, done: number): ModelStep {
  const entries: Json = STEPS.map((content, step) => ({
    content,
    priority: 'medium',
    status: step < done ? 'completed' : step === done ? 'in_progress' : 'pending',
  }));
  return call(callId, 'update_plan', { entries });
}

/** Up to the command that needs a person. */
export const UNTIL_COMMAND: readonly (readonly ModelStep[])[] = [
  [
    thought(
      '**Finding the total**\n\nThe voucher is taken off somewhere between the cart and the checkout. I look there first.',
    ),
    message('I read the cart and its test first.'),
    plan('p1', 0),
    call('c1', 'grep', { pattern: 'discount', glob: '*.ts' }),
    call('c2', 'read', { path: 'src/cart.ts' }),
    call('c3', 'read', { path: 'test/cart.test.ts' }),
    used(14_200),
  ],
  [
    message(
      '`applyDiscount` multiplies by the rate **twice**: once for `discounted`, and again in the line that returns. The test should fail by exactly that.',
    ),
    plan('p2', 1),
    call('c4', 'bash', { command: 'node test/cart.test.ts' }),
    used(19_800),
  ],
];

/** After the test has failed: the edit that needs a person. */
export const EDIT: readonly ModelStep[] = [
  thought('**Taking it once**\n\n3000 less 10% is 2700, and we get 2430: that is 10% of 10% less.'),
  message('As expected: 2430 instead of 2700. I take the discount once and round to whole cents.'),
  plan('p3', 2),
  call('c5', 'edit', { path: 'src/cart.ts', old_string: BUGGY, new_string: MENDED }),
  used(23_100),
];

export const TEST_AGAIN: readonly ModelStep[] = [
  plan('p4', 3),
  call('c6', 'bash', { command: 'node test/cart.test.ts' }),
  used(24_900),
];

export const PLAN_DONE: readonly ModelStep[] = [plan('p5', 4), used(25_600)];

const SUMMARY = [
  'All four checks pass. ',
  'The discount was taken **twice**, so the more a voucher was worth, the more the shop lost:\n\n',
  '| Cart | Voucher | Charged before | Charged now |\n|---|---|--:|--:|\n',
  '| Notebooks, pencils | SPRING, 10% | 24.30 | 27.00 |\n',
  '| Pen | VIP, 15% | 1.44 | 1.69 |\n| Pen | none | 1.99 | 1.99 |\n\n',
  'It is now one line, and it can return nothing but whole cents:\n\n',
  '```ts\nfunction applyDiscount(subtotal: number, { rate }: Discount): number {\n',
  '  // Once, and in whole cents: a customer is never charged a fraction.\n',
  '  return subtotal - Math.round(subtotal * rate);\n}\n```\n\n',
  'Two things I left alone:\n\n',
  '1. `shipping.ts` compares the total **after** the discount with `FREE_FROM`; is that meant?\n',
  '2. Orders that were charged too little stay as they are.\n',
];

/** @param middle what the answer waits for half-way, inside a word of its table. */
export function summary(middle: Promise<unknown>): readonly ModelStep[] {
  const deltas: Delta[] = [
    ...SUMMARY.slice(0, 4),
    '| Pen | VIP, 15% | 1.4',
    middle,
    '4 | 1.69 |\n| Pen | none | 1.99 | 1.99 |\n\n',
  ];
  return [message(...deltas, ...SUMMARY.slice(5)), used(26_800)];
}

export const ABOUT_IMAGE =
  'This is the checkout on a phone. Why does it say 24.30, and could the voucher be easier to see?';

export const ON_IMAGE: readonly ModelStep[] = [
  message(
    'The picture was taken **before** the change: 24.30 is 27.00 less another 10%.\n\n',
    'The voucher is hard to see because its line has the colour of the subtotal. I would:\n\n',
    '- put the code into the line itself, as in `SPRING −10%`\n- show what was saved, `−3.00`, in the colour of success\n\n',
    'Both are in `checkout.css`, which is not part of this folder.',
  ),
  used(29_400),
];

export const LONG_PROMPT = 'Explain how the free shipping limit and the voucher work together, with an example.';
export const QUEUED = 'Then add a test for an order of exactly 50.00.';

/** @param middle what it waits for, inside a sentence. */
export function explanation(middle: Promise<unknown>): readonly ModelStep[] {
  return [
    thought('**Looking at the order of things**\n\nThe limit sees the total, and the total is already discounted.'),
    message(
      '## Free shipping and vouchers\n\nThe limit is `FREE_FROM`, 50.00, and it looks at the total **after** the voucher:\n\n',
      '```ts\nisFree(total(lines, discount)); // 54.00 with SPRING is 48.60: not free\n```\n\n',
      'So a customer whose cart is just above the limit can lose free shipping by enter',
      middle,
      'ing a voucher. Comparing the subtotal instead would be one word.',
    ),
    used(31_000),
  ];
}

export const PLAN_PROMPT = 'How would we support VAT by country? No changes yet, please.';

export const PLAN_ANSWER: readonly (readonly ModelStep[])[] = [
  [
    thought('**Reading only**\n\nPlan mode: I look at what there is and propose.'),
    message('I look at how totals are made today.'),
    call('v1', 'read', { path: 'src/cart.ts' }),
    call('v2', 'read', { path: 'src/types.ts' }),
    used(9_800),
  ],
  [
    message(
      '## VAT by country\n\nPrices stay **net**, in cents; the rate belongs to the order, not to the line.\n\n',
      '1. `src/vat.ts`: a table of rates, `rateOf(country)`, and an error for a country it does not know.\n',
      '2. `total()` takes `{ discount, country }`; the voucher comes off first, then the tax goes on.\n',
      '3. Round **once**, at the end, as the law of most countries wants it.\n\n',
      '| Country | Rate | Notebook, 12.00 |\n|---|--:|--:|\n| Germany | 19% | 14.28 |\n| France | 20% | 14.40 |\n| Ireland | 23% | 14.76 |\n\n',
      '> Not in this plan: reduced rates for books. A notebook is not a book, but a planner may be.\n',
    ),
    call('v3', 'update_plan', {
      entries: [
        'Rates in src/vat.ts',
        'total() takes the country',
        'Tests: rounding, unknown country',
        'Show the tax in the checkout',
      ].map((content) => ({ content, priority: 'medium', status: 'pending' })),
    }),
    used(12_400),
  ],
  [message('Switch to build mode and I begin with the table of rates.'), used(12_900)],
];

export const QUEUED_ANSWER: readonly ModelStep[] = [
  message('The test is there: an order of exactly 50.00 is free, and one of 49.99 is not.'),
  used(32_500),
];

/** The same explanation, cut by a crash: what was said, and how it goes on. @param middle holds the rest back. */
export function continued(middle: Promise<unknown>): readonly ModelStep[] {
  return [
    message(
      'I go on where I was. The rounding is safe for three reasons:\n\n1. Prices are whole cents before the voucher.\n',
      '2. `Math.round` is used once.\n3. Nothing divides afterwards, so no',
      middle,
      ' cent is lost.',
    ),
  ];
}

export const CUT_PROMPT = 'Is the rounding safe for very large orders?';

export function untilCut(middle: Promise<unknown>): readonly ModelStep[] {
  return [
    message(
      'Yes. A number holds whole cents exactly up to **90 trillion**; an order that large would meet other limits first.\n\n',
      'What could still go wrong is rounding twice, and since the change nothing ro',
      middle,
      'unds twice.',
    ),
  ];
}
