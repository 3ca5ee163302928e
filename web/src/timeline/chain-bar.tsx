/** Says what the Log is, and whether it is still what was recorded; verified on demand, and a short one by itself. */
import { CircleCheck, ShieldQuestionMark, TriangleAlert } from 'lucide-react';
import { Button, names } from '../ui/button.tsx';
import { type Chain, chainText } from './chain.ts';

interface ChainBarProps {
  chain: Chain;
  total: number;
  onVerify(): void;
  /** To the Event where it breaks. */
  onShow(): void;
}

export function ChainBar({ chain, total, onVerify, onShow }: ChainBarProps) {
  const isVerifying = chain.kind === 'verifying';
  return (
    <div className="chain">
      <p className="chain-promise">
        Every Event was on disk before anybody saw it; each carries the check value of all before it.
      </p>
      <div className={names('chain-state', chain.kind)}>
        <span className="chain-text" role="status">
          <StateIcon chain={chain} />
          {chainText(chain, total)}
        </span>
        <span className="chain-actions">
          {chain.kind === 'broken' && (
            <Button small onClick={onShow}>
              Show it
            </Button>
          )}
          <Button small disabled={isVerifying} onClick={onVerify}>
            Verify the chain
          </Button>
        </span>
      </div>
    </div>
  );
}

function StateIcon({ chain: { kind } }: { chain: Chain }) {
  if (kind === 'verifying') return <span className="spinner" aria-hidden />;
  const Icon = { unverified: ShieldQuestionMark, intact: CircleCheck, broken: TriangleAlert, failed: TriangleAlert }[
    kind
  ];
  return <Icon size={16} aria-hidden />;
}
