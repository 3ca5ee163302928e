/** The icon of the tab, with a badge where somebody is needed or something runs. Without one it is the file itself. */
import type { Attention } from '../state/sessions.ts';

type Badge = Extract<Attention, 'needs_you' | 'running'> | undefined;

const SIZE = 64;
/** A tab has no theme: these stand out on light and on dark. */
const COLOURS = { needs_you: '#f0a020', running: '#35b568' };

const drawn = new Map<Badge, string>();
let shown: Badge;

export async function showBadge(badge: Badge): Promise<void> {
  if (badge === shown) return;
  shown = badge;
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (!link) return;
  if (!drawn.has(undefined)) drawn.set(undefined, link.href);
  const href = drawn.get(badge) ?? (await draw(badge, drawn.get(undefined) ?? ''));
  drawn.set(badge, href);
  if (badge !== shown) return;
  link.type = badge === undefined ? 'image/svg+xml' : 'image/png';
  link.href = href;
}

async function draw(badge: Badge, address: string): Promise<string> {
  const icon = new Image(SIZE, SIZE);
  icon.src = address;
  await icon.decode();
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = SIZE;
  const context = canvas.getContext('2d');
  if (!context || badge === undefined) return address;
  context.drawImage(icon, 0, 0, SIZE, SIZE);
  const radius = badge === 'needs_you' ? 17 : 13;
  const centre = SIZE - radius - 1;
  // A rim without colour keeps it apart from the icon.
  context.globalCompositeOperation = 'destination-out';
  circle(context, centre, radius + 5);
  context.globalCompositeOperation = 'source-over';
  context.fillStyle = COLOURS[badge];
  circle(context, centre, radius);
  return canvas.toDataURL('image/png');
}

function circle(context: CanvasRenderingContext2D, centre: number, radius: number): void {
  context.beginPath();
  context.arc(centre, centre, radius, 0, 2 * Math.PI);
  context.fill();
}
