import { Button } from '@mantine/core';
import { CircleAlert } from 'lucide-react';
import { EmptyState } from '../components/empty-state.tsx';

/** Shown when a view fails to load or render. After a deployment the old files may be gone: a reload helps. */
export const RouteProblem = () => (
  <div className="page">
    <EmptyState
      icon={CircleAlert}
      title="This page could not be shown"
      action={<Button onClick={() => location.reload()}>Reload</Button>}
    >
      The dashboard may have been updated while it was open.
    </EmptyState>
  </div>
);
