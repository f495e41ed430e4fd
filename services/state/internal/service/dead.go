package service

import (
	"context"
	"encoding/base64"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/fathom-research/fathom/platform/bus"
	researchv1 "github.com/fathom-research/fathom/proto/fathom/research/v1"
	"github.com/fathom-research/fathom/services/state/internal/workflow"
)

// ListDeadTasks lists the tasks that could not be processed.
func (s *Service) ListDeadTasks(ctx context.Context, r *researchv1.ListDeadTasksRequest) (*researchv1.ListDeadTasksResponse, error) {
	dead, err := s.bus.DeadTasks(ctx, r.GetResearchId())
	if err != nil {
		return nil, s.answer(ctx, err, r.GetResearchId())
	}
	answer := new(researchv1.ListDeadTasksResponse)
	for i := range dead {
		if visible(ctx, &dead[i]) {
			answer.DeadTasks = append(answer.DeadTasks, deadProto(&dead[i]))
		}
	}
	return answer, nil
}

// GetDeadTask answers with a dead task and its body.
func (s *Service) GetDeadTask(ctx context.Context, r *researchv1.GetDeadTaskRequest) (*researchv1.DeadTask, error) {
	dead, err := s.deadTask(ctx, r.GetSequence())
	if err != nil {
		return nil, err
	}
	answer := deadProto(dead)
	answer.Body = base64.StdEncoding.EncodeToString(dead.Body)
	if dead.Task != nil {
		answer.Body = protojson.Format(dead.Task)
	}
	return answer, nil
}

// ReplayDeadTask gives a dead task another attempt.
func (s *Service) ReplayDeadTask(ctx context.Context, r *researchv1.ReplayDeadTaskRequest) (*researchv1.ReplayDeadTaskResponse, error) {
	dead, err := s.deadTask(ctx, r.GetSequence())
	if err != nil {
		return nil, err
	}
	answer, err := s.control(ctx, dead.ResearchID, func(ctx context.Context, tenant, id string) (workflow.Status, error) {
		return s.engine.Replay(ctx, tenant, id, dead.TaskID)
	})
	if err != nil {
		return nil, err
	}
	err = s.bus.RemoveDeadTask(ctx, dead.Sequence)
	if err != nil {
		// It is replayed; a second replay would find it open and do no harm.
		s.logger.WarnContext(ctx, "replayed task stays among the dead", "sequence", dead.Sequence, "error", err)
	}
	return &researchv1.ReplayDeadTaskResponse{ResearchId: answer.GetResearchId(), Status: answer.GetStatus()}, nil
}

func (s *Service) deadTask(ctx context.Context, sequence int32) (*bus.DeadTask, error) {
	if sequence <= 0 {
		return nil, invalid("Sequence must be a positive integer")
	}
	dead, err := s.bus.DeadTask(ctx, uint64(sequence))
	if err == nil && !visible(ctx, dead) {
		err = bus.ErrNoDeadTask
	}
	if err != nil {
		return nil, s.answer(ctx, err, "")
	}
	return dead, nil
}

// visible reports whether the dead task belongs to the caller's tenant. What could
// not be decoded belongs to nobody, and only operators ask.
func visible(ctx context.Context, dead *bus.DeadTask) bool {
	return dead.Task == nil || dead.Task.GetTenant() == tenantOf(ctx)
}

func deadProto(dead *bus.DeadTask) *researchv1.DeadTask {
	return &researchv1.DeadTask{
		Sequence: int32(dead.Sequence), ResearchId: dead.ResearchID, TaskId: dead.TaskID, Kind: string(dead.Kind),
		Reason: dead.Failure.GetCode(), Message: dead.Failure.GetMessage(), At: timestamp(&dead.At),
	}
}
