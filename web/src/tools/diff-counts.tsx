/** `+12 −3`: how many lines a change adds and removes. */
import './diff-counts.css';

export function DiffCounts({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="diff-counts">
      {added > 0 && <span className="diff-count-add">+{added}</span>}
      {removed > 0 && <span className="diff-count-del">−{removed}</span>}
    </span>
  );
}
