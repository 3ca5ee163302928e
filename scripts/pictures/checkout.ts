/** A made-up checkout on a phone, drawn by the browser itself: what a person would attach to a prompt. */
import type { Page } from 'playwright-core';

const PAGE = `<!doctype html><style>
  body { margin: 0; padding: 28px 24px; font: 16px/1.5 sans-serif; background: #fff; color: #1c1c1e; }
  h1 { margin: 0 0 20px; font-size: 24px; } p { display: flex; justify-content: space-between; margin: 0; padding: 10px 0; border-bottom: 1px solid #e5e5ea; }
  .voucher { color: #3a3a3c; } .total { border: 0; font-weight: bold; font-size: 20px; }
  button { width: 100%; margin-top: 18px; padding: 14px; border: 0; border-radius: 12px; background: #0b6b4f; color: #fff; font: inherit; }
</style><h1>Your order</h1>
<p>2 × Notebook <span>24.00</span></p><p>4 × Pencil <span>6.00</span></p>
<p class="voucher">Voucher <span>−5.70</span></p><p class="total">Total <span>24.30</span></p><button>Pay 24.30</button>`;

/** @param beside any page: it is drawn in another one. */
export async function pictureOfCheckout(beside: Page): Promise<Buffer> {
  const page = await beside.context().newPage();
  await page.setViewportSize({ width: 360, height: 400 });
  await page.setContent(PAGE);
  const picture = await page.screenshot({ scale: 'css' });
  await page.close();
  return picture;
}
